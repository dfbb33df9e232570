// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads Rust sources for tests that look at them.

use std::fs;
use std::path::Path;

use syn::Attribute;

/// The files below `folder` that are no tests: the path of each from there, and its text.
pub fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    read(folder, folder, &mut found);
    found
}

fn read(folder: &Path, root: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.file_stem().is_some_and(|it| it == "tests") {
            continue;
        }
        if path.is_dir() {
            read(&path, root, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let name = path.strip_prefix(root).expect("below the root");
            let text = fs::read_to_string(&path).expect("text");
            found.push((name.display().to_string(), text));
        }
    }
}

/// Whether an item is in builds for tests alone.
pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| {
        let list = it.meta.require_list();
        it.path().is_ident("cfg") && list.is_ok_and(|it| it.tokens.to_string() == "test")
    })
}
