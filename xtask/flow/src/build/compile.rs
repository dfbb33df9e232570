// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles and assembles.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use donjon_builder::compartment::c::{COMPILER, RUNTIME};
use donjon_machine::{paths, process};

use super::{Build, Compiler};
use crate::Source;

/// Compiles a file to assembly.
pub fn to_assembly(source: &Path, what: &Build, folder: &Path) -> Result<Source> {
    let out = folder.join("compiled.s");
    let mut command = what.compiler.command(what);
    command
        .arg("-I")
        .arg(paths::in_root(RUNTIME))
        .arg("-S")
        .arg(source)
        .arg("-o")
        .arg(&out);
    process::output(&mut command)?;
    let text = fs::read_to_string(&out).with_context(|| format!("reading {}", out.display()))?;
    Ok(Source {
        name: source.display().to_string(),
        text,
    })
}

/// Assembles a text that a compiler or the rewriter made; its debug information is in it.
pub fn assemble(source: &Source, index: usize, folder: &Path) -> Result<PathBuf> {
    let name = Path::new(&source.name).file_stem().unwrap_or_default();
    let file = folder.join(format!("{index}-{}.s", name.to_string_lossy()));
    fs::write(&file, &source.text).with_context(|| format!("writing {}", file.display()))?;
    object(&file, &[], index, folder)
}

/// Assembles a file that was written by hand.
pub fn assemble_file(source: &Path, what: &Build, index: usize, folder: &Path) -> Result<PathBuf> {
    object(source, &Compiler::Gcc.debug(what), index, folder)
}

fn object(source: &Path, flags: &[String], index: usize, folder: &Path) -> Result<PathBuf> {
    let object = folder.join(format!("{index}.o"));
    let mut command = Command::new(COMPILER);
    command
        .arg("-march=armv8-a")
        .args(flags)
        .arg("-I")
        .arg(paths::in_root(RUNTIME))
        .arg("-c")
        .arg(source)
        .arg("-o");
    process::output(command.arg(&object))?;
    Ok(object)
}
