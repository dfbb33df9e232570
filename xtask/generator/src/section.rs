// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of documents that are generated, between two comments.

use anyhow::{Context, Result};

/// The document with the part `name` replaced.
///
/// # Errors
///
/// Without the lines `<!-- NAME:begin -->` and `<!-- NAME:end -->`.
pub fn replace(text: &str, name: &str, replacement: &str) -> Result<String> {
    let (begin, end) = markers(name);
    between(text, &begin, &end, replacement).with_context(|| {
        format!("the lines `{begin}` and `{end}` are missing (in this order); put them back")
    })
}

/// The manifest with the part `name` replaced.
///
/// # Errors
///
/// Without the lines `# NAME:begin` and `# NAME:end`.
pub fn replace_in_manifest(text: &str, name: &str, replacement: &str) -> Result<String> {
    let (begin, end) = (format!("# {name}:begin"), format!("# {name}:end"));
    between(text, &begin, &end, replacement).with_context(|| {
        format!("the lines `{begin}` and `{end}` are missing (in this order); put them back")
    })
}

/// The lines around a part.
pub fn markers(name: &str) -> (String, String) {
    (
        format!("<!-- {name}:begin -->"),
        format!("<!-- {name}:end -->"),
    )
}

fn between(text: &str, begin: &str, end: &str, replacement: &str) -> Option<String> {
    let start = text.find(begin)? + begin.len();
    let stop = start + text[start..].find(end)?;
    Some(format!(
        "{}\n{replacement}{}",
        &text[..start],
        &text[stop..]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_part_between_the_markers_is_replaced() {
        let text = "a\n<!-- it:begin -->\nold\n<!-- it:end -->\nb\n";
        let expected = text.replace("old", "new");
        assert_eq!(replace(text, "it", "new\n").expect("markers"), expected);
    }

    #[test]
    fn markers_in_the_wrong_order_are_refused() {
        let error = replace("<!-- it:end --><!-- it:begin -->", "it", "").expect_err("order");
        assert!(error.to_string().contains("it:begin"), "{error}");
    }
}
