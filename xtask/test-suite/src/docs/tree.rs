// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the pages are compared with: the files of the repository and the names of host tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use donjon_builder::kernel::walk;
use donjon_machine::paths;

/// All files of the repository with this extension. Build products and hidden folders are left
/// out.
pub fn files(extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = walk::files_except(paths::root(), &|path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'))
            || path.starts_with("target")
    })?;
    found.retain(|it| it.extension().is_some_and(|it| it == extension));
    Ok(found)
}

/// The names of all functions that are host tests.
pub fn host_tests() -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for path in files("rs")? {
        let text =
            fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        names.extend(tests_in(&text));
    }
    Ok(names)
}

/// The first function behind each `#[test]`; further attributes may stand between. Where a macro
/// makes the function, the first argument of each macro counts as a name.
fn tests_in(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    for rest in source.split("#[test]").skip(1) {
        let Some((_, rest)) = rest.split_once("fn ") else {
            continue;
        };
        if rest.starts_with('$') {
            let arguments = source.split("!(").skip(1);
            names.extend(arguments.filter_map(|it| name(it.trim_start())));
        } else {
            names.extend(name(rest));
        }
    }
    names
}

/// The identifier at the beginning of `text`.
fn name(text: &str) -> Option<String> {
    let end = text.find(|it: char| !it.is_alphanumeric() && it != '_')?;
    (end > 0).then(|| text[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_found_behind_its_attributes() {
        let source = "fn no() {}\n#[test]\n#[ignore]\nfn one() {}\n  #[test] fn two(x in 0..1) {}";
        assert_eq!(tests_in(source), ["one", "two"]);
    }

    #[test]
    fn a_test_is_found_where_a_macro_makes_it() {
        let source = "macro_rules! case { ($name:ident) => { #[test]\nfn $name() {} } }\n\
                      case!(\n    three,\n);\ncase!(four);";
        assert_eq!(tests_in(source), ["three", "four"]);
    }
}
