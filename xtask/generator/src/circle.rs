// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds circles in graphs of files.

use std::collections::BTreeSet;

/// The files of a circle in their order, the first one again at the end; none if there is no
/// circle. `uses` gives the files that a file uses.
pub fn find<'a, I: IntoIterator<Item = &'a str>>(
    files: impl IntoIterator<Item = &'a str>,
    uses: impl Fn(&'a str) -> I,
) -> Option<Vec<&'a str>> {
    let mut done = BTreeSet::new();
    let mut files = files.into_iter();
    files.find_map(|file| visit(file, &uses, &mut Vec::new(), &mut done))
}

fn visit<'a, I: IntoIterator<Item = &'a str>>(
    file: &'a str,
    uses: &impl Fn(&'a str) -> I,
    path: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
) -> Option<Vec<&'a str>> {
    if let Some(start) = path.iter().position(|it| *it == file) {
        let mut circle = path[start..].to_vec();
        circle.push(file);
        return Some(circle);
    }
    if !done.insert(file) {
        return None;
    }
    path.push(file);
    for next in uses(file) {
        if let Some(found) = visit(next, uses, path, done) {
            return Some(found);
        }
    }
    path.pop();
    None
}
