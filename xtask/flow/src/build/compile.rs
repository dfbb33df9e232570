// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles and assembles.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use donjon_builder::compartment::c::{COMPILER, FLAGS, RUNTIME};
use donjon_machine::qemu::SOURCES;
use donjon_machine::{paths, process};

use super::Build;
use crate::Source;

/// Flags of instrumented programs.
///
/// `-dA` writes into the assembly how often the compiler believes that each block runs.
const FLOW: [&str; 3] = [
    "-fno-jump-tables",
    "-fno-reorder-blocks-and-partition",
    "-dA",
];

/// Flags for lines and functions in debug information, which is not loaded: the text stays as it
/// is. Where variables are is left out, as it would not be true of rewritten code.
const DEBUG: [&str; 4] = [
    "-g",
    "-gdwarf-5",
    "-fno-var-tracking",
    "-gno-variable-location-views",
];

/// Returns the flags of a file's debug information. Its paths are the same wherever it is made.
fn debug(what: &Build) -> impl Iterator<Item = String> {
    let map = format!("-fdebug-prefix-map={}=/{SOURCES}", paths::root().display());
    let flags = DEBUG.into_iter().map(str::to_owned).chain([map]);
    flags.filter(|_| what.has_lines)
}

/// Returns the flags that instrumented programs are compiled with besides.
fn reserved() -> impl Iterator<Item = String> {
    let registers = (22..=28).map(|it| format!("-ffixed-x{it}"));
    FLOW.into_iter().map(str::to_owned).chain(registers)
}

/// Compiles a file to assembly.
pub fn to_assembly(source: &Path, what: &Build, folder: &Path) -> Result<Source> {
    let out = folder.join("compiled.s");
    let mut command = Command::new(COMPILER);
    command.args(FLAGS);
    if what.is_instrumented {
        command.args(reserved());
    }
    command
        .args(debug(what))
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
    object(&file, [].into_iter(), index, folder)
}

/// Assembles a file that was written by hand.
pub fn assemble_file(source: &Path, what: &Build, index: usize, folder: &Path) -> Result<PathBuf> {
    object(source, debug(what), index, folder)
}

fn object(
    source: &Path,
    flags: impl Iterator<Item = String>,
    index: usize,
    folder: &Path,
) -> Result<PathBuf> {
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
