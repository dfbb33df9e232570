// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads off a Rust file which paths it names.

use std::collections::BTreeMap;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Item, UseTree};

use crate::sources::{self, is_test};

/// A path in a crate, from its root on.
pub type Names = Vec<String>;

/// What a file says of others.
#[derive(Debug, Default)]
pub struct File {
    /// The module that the file is; a crate's root has no names.
    pub module: Names,
    /// Names that `use` makes, and the path that each stands for, as it is written.
    pub aliases: BTreeMap<String, Names>,
    /// Paths that are named, as they are written: in code, and by `use` that exports nothing.
    pub named: Vec<Names>,
}

/// The file of the module `name`, whose names are divided by slashes.
pub fn file(name: &str, text: &str) -> File {
    let mut file = File {
        module: name
            .split('/')
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect(),
        ..File::default()
    };
    file.visit_file(&syn::parse_file(text).expect(name));
    file
}

/// The files below a crate's `src`, without tests.
pub fn files(source: &Path) -> Vec<File> {
    let read = sources::files(source).into_iter();
    read.map(|(path, text)| file(&module(&path), &text))
        .collect()
}

/// The module that the file at `path` is, its names divided by slashes.
fn module(path: &str) -> String {
    let names = path.trim_end_matches(".rs").split('/');
    let names = names.filter(|it| !["lib", "main", "mod"].contains(it));
    names.collect::<Vec<_>>().join("/")
}

impl<'a> Visit<'a> for File {
    fn visit_item(&mut self, item: &'a Item) {
        match item {
            Item::Mod(it) if is_test(&it.attrs) => {}
            Item::Use(it) => {
                let is_export = !matches!(it.vis, syn::Visibility::Inherited);
                self.import(&mut Vec::new(), &it.tree, is_export);
            }
            _ => visit::visit_item(self, item),
        }
    }

    /// Says nothing: `crate` in a visibility is no use.
    fn visit_visibility(&mut self, _: &'a syn::Visibility) {}

    fn visit_path(&mut self, path: &'a syn::Path) {
        let names = path.segments.iter().map(|it| it.ident.to_string());
        self.named.push(names.collect());
        visit::visit_path(self, path);
    }
}

impl File {
    fn import(&mut self, above: &mut Names, tree: &UseTree, is_export: bool) {
        match tree {
            UseTree::Path(it) => {
                above.push(it.ident.to_string());
                self.import(above, &it.tree, is_export);
                above.pop();
            }
            UseTree::Group(it) => {
                for tree in &it.items {
                    self.import(above, tree, is_export);
                }
            }
            UseTree::Name(it) if it.ident == "self" => {
                let name = above.last().expect("a name").clone();
                self.alias(name, above.clone(), is_export);
            }
            UseTree::Name(it) => {
                let name = it.ident.to_string();
                self.alias(name.clone(), [&above[..], &[name]].concat(), is_export);
            }
            UseTree::Rename(it) => {
                let path = [&above[..], &[it.ident.to_string()]].concat();
                self.alias(it.rename.to_string(), path, is_export);
            }
            UseTree::Glob(_) => self.named.push(above.clone()),
        }
    }

    fn alias(&mut self, name: String, path: Names, is_export: bool) {
        if !is_export {
            self.named.push(path.clone());
        }
        self.aliases.insert(name, path);
    }
}
