// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which file uses which, and circles in that.

use std::collections::{BTreeMap, BTreeSet};

use super::uses::{File, Names};

/// The files that each file uses, by modules whose names are divided by slashes.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// How many `use` may stand between a name and its item.
const HOPS: usize = 8;

/// The names that each module makes by `use`.
type Aliases<'a> = BTreeMap<&'a [String], Vec<&'a BTreeMap<String, Names>>>;

/// Makes the graph of a crate's files. Only names are followed, and no method calls: a method of a
/// type may stand in any file of the type's room. A file and the folder of its name are one room:
/// what a part of it names of its root is not followed.
pub fn graph(files: &Vec<File>) -> Graph {
    let mut modules = Aliases::new();
    for file in files {
        modules.entry(&file.module).or_default().push(&file.aliases);
    }
    let mut graph = Graph::new();
    for file in files {
        let used = graph.entry(file.module.join("/")).or_default();
        for path in &file.named {
            let owner = absolute(&modules, &file.module, path)
                .and_then(|path| owner(&modules, &path, HOPS));
            if let Some(owner) = owner.filter(|it| !file.module.starts_with(it)) {
                used.insert(owner.join("/"));
            }
        }
    }
    graph
}

/// The path from the crate's root on; none for what is not the crate's.
fn absolute(modules: &Aliases, module: &[String], path: &[String]) -> Option<Names> {
    let first = path.first()?.as_str();
    let rest = &path[1..];
    let child = [module, &path[..1]].concat();
    match first {
        "crate" => Some(rest.to_vec()),
        "self" => Some([module, rest].concat()),
        "super" => {
            let above = module.get(..module.len().checked_sub(1)?)?;
            match rest.first().map(String::as_str) {
                Some("super") => absolute(modules, above, rest),
                _ => Some([above, rest].concat()),
            }
        }
        _ if modules.contains_key(&*child) => Some([module, path].concat()),
        _ => {
            let mut aliases = modules.get(module)?.iter();
            let alias = aliases.find_map(|it| it.get(first))?;
            // A name that stands for itself is one of another crate.
            if alias.first().map(String::as_str) == Some(first) {
                return None;
            }
            let alias = absolute(modules, module, alias)?;
            Some([&alias[..], rest].concat())
        }
    }
}

/// The module whose file defines what a path names.
fn owner(modules: &Aliases, path: &[String], hops: usize) -> Option<Names> {
    let length = (0..=path.len())
        .rev()
        .find(|length| modules.contains_key(&path[..*length]))?;
    let (module, rest) = path.split_at(length);
    let found = || {
        let name = rest.first()?;
        let alias = modules[module].iter().find_map(|it| it.get(name))?;
        let alias = absolute(modules, module, alias)?;
        let further = [&alias[..], &rest[1..]].concat();
        (hops != 0 && further != path).then(|| owner(modules, &further, hops - 1))?
    };
    found().or_else(|| Some(module.to_vec()))
}

/// A circle of files, if there is one.
pub fn circle(graph: &Graph) -> Option<String> {
    let uses = |file: &str| graph.get(file).into_iter().flatten().map(String::as_str);
    Some(crate::circle::find(graph.keys().map(String::as_str), uses)?.join(" uses "))
}
