// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is generated from `inner-domain/abi`: the header that Linux includes, and the table of
//! calls in the documentation.

mod c;
mod table;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::paths;

const HEADER: &str = "kernel-patch/files/arch/arm64/include/asm/donjon_abi.h";
const REFERENCE: &str = "docs/idc.md";
const BEGIN: &str = "<!-- calls:begin -->";
const END: &str = "<!-- calls:end -->";

/// Writes both, or with `check` only compares them.
pub fn run(check: bool) -> Result<()> {
    let mut stale = Vec::new();
    for (name, text) in [
        (HEADER, c::header()),
        (REFERENCE, reference(&paths::in_root(REFERENCE))?),
    ] {
        let path = paths::in_root(name);
        if fs::read_to_string(&path).is_ok_and(|found| found == text) {
            continue;
        }
        if check {
            stale.push(name);
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        eprintln!("wrote {name}");
    }
    if stale.is_empty() {
        return Ok(());
    }
    bail!(
        "not what inner-domain/abi generates: {}; run `cargo xtask header` and commit the result",
        stale.join(", ")
    )
}

/// The reference with the part between the markers replaced.
fn reference(path: &Path) -> Result<String> {
    let found = match fs::read_to_string(path) {
        Ok(found) => found,
        Err(_) => format!("# Inter-domain calls\n\n{BEGIN}\n{END}\n"),
    };
    replace_between(&found, &table::calls()).with_context(|| {
        format!("{REFERENCE} lacks the lines `{BEGIN}` and `{END}` (in this order); put them back")
    })
}

fn replace_between(text: &str, replacement: &str) -> Option<String> {
    let begin = text.find(BEGIN)? + BEGIN.len();
    let end = begin + text[begin..].find(END)?;
    Some(format!("{}\n{replacement}{}", &text[..begin], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_part_between_the_markers_is_replaced() {
        let text = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        let expected = format!("a\n{BEGIN}\nnew\n{END}\nb\n");
        assert_eq!(replace_between(&text, "new\n"), Some(expected));
    }

    #[test]
    fn markers_in_the_wrong_order_are_refused() {
        assert_eq!(replace_between(&format!("{END}\n{BEGIN}\n"), ""), None);
    }
}
