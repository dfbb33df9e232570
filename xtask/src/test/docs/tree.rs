// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the pages are compared with: the files of the repository and the names of host tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::kernel::walk;
use crate::paths;

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

/// The first function behind each `#[test]`; further attributes may stand between.
fn tests_in(source: &str) -> impl Iterator<Item = String> {
    source.split("#[test]").skip(1).filter_map(|rest| {
        let (_, rest) = rest.split_once("fn ")?;
        let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_')?;
        Some(rest[..end].to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_found_behind_its_attributes() {
        let source = "fn no() {}\n#[test]\n#[ignore]\nfn one() {}\n  #[test] fn two(x in 0..1) {}";
        assert_eq!(tests_in(source).collect::<Vec<_>>(), ["one", "two"]);
    }
}
