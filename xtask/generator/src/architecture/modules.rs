// SPDX-License-Identifier: MIT OR Apache-2.0
//! The modules of each crate of the workspace.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use donjon_machine::paths;
use serde::Deserialize;

use super::{cell, sentence};

#[derive(Deserialize)]
struct Root {
    workspace: Workspace,
}

#[derive(Deserialize)]
struct Workspace {
    members: Vec<String>,
}

#[derive(Deserialize)]
struct Manifest {
    package: Package,
}

#[derive(Deserialize)]
struct Package {
    name: String,
}

/// The crate whose modules are rooms: each of its files has a row.
const CORE: &str = "inner-domain/core";

/// A table for each crate, in the order of the workspace. Crates without modules have none.
pub fn tables() -> Result<String> {
    let mut out = String::new();
    let root: Root = toml::from_str(&read(&paths::in_root("Cargo.toml"))?)?;
    for folder in &root.workspace.members {
        let place = paths::in_root(folder);
        let manifest: Manifest = toml::from_str(&read(&place.join("Cargo.toml"))?)?;
        let modules = modules(&place.join("src"), *folder == CORE)?;
        if modules.is_empty() {
            continue;
        }
        let _ = write!(
            out,
            "\n### `{}`, in {folder}/src/\n\n| module | holds |\n|---|---|\n",
            manifest.package.name
        );
        for module in modules {
            let sentence = sentence::of_rust(&read(&module.file)?)
                .with_context(|| module.file.display().to_string())?;
            // Writing to a String cannot fail.
            let _ = writeln!(out, "| `{}` | {} |", module.name, cell(&sentence));
        }
    }
    Ok(out)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Module {
    name: String,
    file: PathBuf,
}

/// The modules and the programs that stand in a crate's `src`, by name, and with `rooms` those in
/// its folders. The crate's own root is not one of them, and neither are tests.
fn modules(source: &Path, rooms: bool) -> Result<Vec<Module>> {
    let mut found = Vec::new();
    if !source.exists() {
        return Ok(found);
    }
    for entry in fs::read_dir(source).with_context(|| format!("reading {}", source.display()))? {
        let path = entry?.path();
        let Some(name) = path.file_stem().map(|it| it.to_string_lossy().into_owned()) else {
            continue;
        };
        let files = match path.is_dir() {
            true => vec![path.join("mod.rs"), path.join("main.rs")],
            false if path.extension().is_some_and(|it| it == "rs") => vec![path.clone()],
            false => Vec::new(),
        };
        if ["lib", "main", "mod", "tests"].contains(&&*name) {
            continue;
        }
        if let Some(file) = files.into_iter().find(|it| it.exists()) {
            let name = match path.is_dir() {
                true => format!("{name}/"),
                false if source.join(&name).is_dir() => format!("{name}.rs, {name}/"),
                false => format!("{name}.rs"),
            };
            found.push(Module { name, file });
        }
        if rooms && path.is_dir() {
            let inside = modules(&path, false)?.into_iter();
            found.extend(inside.map(|it| Module {
                name: format!("{name}/{}", it.name),
                ..it
            }));
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_files_and_folders_and_neither_the_root_nor_tests() {
        let place = tempfile::tempdir().expect("a folder");
        for file in [
            "lib.rs",
            "tests.rs",
            "a.rs",
            "a/x.rs",
            "b/mod.rs",
            "c/main.rs",
            "d/d.S",
        ] {
            let path = place.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "").expect("written");
        }
        let found = modules(place.path(), false).expect("modules");
        let names: Vec<_> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a.rs, a/", "b/", "c/"]);
        let found = modules(place.path(), true).expect("modules");
        let names: Vec<_> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a.rs, a/", "a/x.rs", "b/", "c/"]);
    }

    #[test]
    fn the_map_has_a_row_for_every_module_of_the_core() {
        let tables = tables().expect("tables");
        for entry in fs::read_dir(paths::in_root("inner-domain/core/src")).expect("the core") {
            let name = entry
                .expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned();
            if name.ends_with(".rs") && name != "lib.rs" && name != "tests.rs" {
                assert!(tables.contains(&format!("| `{name}")), "{name}");
            }
        }
    }
}
