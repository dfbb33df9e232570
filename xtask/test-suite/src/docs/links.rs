// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each link between pages leads to a file, and to a heading of it if it names one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use donjon_machine::paths;

use super::page::Page;
use super::{none, tree};

/// Fails if a link in a page of the repository leads nowhere.
pub fn check() -> Result<()> {
    let mut pages = BTreeMap::new();
    for path in tree::files("md")? {
        let text =
            fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        pages.insert(path, Page::read(&text));
    }
    none(&broken(&pages, &|path| path.exists()))
}

/// One line for each broken link. Addresses with a scheme are not followed.
fn broken(pages: &BTreeMap<PathBuf, Page>, exists: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let mut complaints = Vec::new();
    for (path, page) in pages {
        for link in page.links.iter().filter(|it| !it.contains(':')) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                path.clone()
            } else {
                plain(&path.parent().unwrap_or(Path::new("")).join(file))
            };
            let what = match pages.get(&target) {
                _ if !exists(&target) => "there is no such file",
                Some(page) if !heading.is_empty() && !page.anchors().any(|it| it == heading) => {
                    "the page has no such heading"
                }
                _ => continue,
            };
            let shown = path.strip_prefix(paths::root()).unwrap_or(path);
            complaints.push(format!("{}: link to `{link}`: {what}", shown.display()));
        }
    }
    complaints
}

/// The path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == std::path::Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_missing_files_and_headings_are_named() {
        let pages = [
            (
                "a.md",
                "[1](docs/b.md#here) [2](docs/b.md#there) [3](c.md) [4](https://c.md)",
            ),
            (
                "docs/b.md",
                "# Here\n\n[5](../a.md) [6](#here) [7](#nowhere)",
            ),
        ];
        let pages = pages.map(|(path, text)| (PathBuf::from(path), Page::read(text)));
        let pages = BTreeMap::from(pages);
        let found = broken(&pages, &|path| pages.contains_key(path));
        assert_eq!(
            found,
            [
                "a.md: link to `docs/b.md#there`: the page has no such heading",
                "a.md: link to `c.md`: there is no such file",
                "docs/b.md: link to `#nowhere`: the page has no such heading",
            ]
        );
    }
}
