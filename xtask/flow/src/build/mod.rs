// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds programs in C and Rust, instrumented or plain.

mod compile;
mod compiler;
mod link;
mod rust;
mod sections;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use donjon_builder::compartment::c;
use donjon_machine::paths;

use crate::rewrite;

pub use compiler::Compiler;
pub use rust::reserved;

/// Where a program is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// In a compartment.
    Compartment,
    /// In a process of Linux, with a host that stands in for the inner domain.
    Process,
}

impl Target {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compartment => "compartment",
            Self::Process => "process",
        }
    }
}

/// What to build.
#[derive(Clone, Debug)]
pub struct Build<'a> {
    /// A C file, a folder with C files, or a file in Rust that is the root of a crate.
    pub path: &'a Path,
    /// Where it is to run.
    pub target: Target,
    /// Whether it says which path it took.
    pub is_instrumented: bool,
    /// What compiles its files in C.
    pub compiler: Compiler,
    /// Whether it has debug information, which is not loaded and changes no instruction.
    pub has_lines: bool,
}

/// Section with the instrumented text of a process; what starts it lies in other sections.
pub const TEXT: &str = ".text";
/// Where an instrumented program begins.
const START: &str = "xtask/flow/runtime/start.S";

/// Builds a program in a folder, which also gets what is made on the way; the program.
///
/// # Errors
///
/// If a tool fails, or the rewriter does not know a construct.
pub fn build(what: &Build, folder: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let sources = sources(what)?;
    let mut texts = Vec::new();
    let mut assembly = Vec::new();
    for source in sources {
        match extension(&source) {
            "c" => texts.push(compile::to_assembly(&source, what, folder)?),
            "rs" => texts.extend(rust::to_assembly(&source, what, folder)?),
            _ => assembly.push(source),
        }
    }
    if what.is_instrumented {
        let new = rewrite(&texts)?;
        for (text, new) in texts.iter_mut().zip(new) {
            text.text = new;
        }
    }
    let mut objects = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        objects.push(compile::assemble(text, index, folder)?);
    }
    for (index, source) in assembly.iter().enumerate() {
        objects.push(compile::assemble_file(
            source,
            what,
            texts.len() + index,
            folder,
        )?);
    }
    let name = what.path.file_stem().context("the path has no name")?;
    let program = folder.join(name).with_extension("elf");
    match what.target {
        Target::Compartment => link::compartment(&objects, &program)?,
        Target::Process => link::process(&objects, &program, folder)?,
    }
    Ok(program)
}

fn extension(path: &Path) -> &str {
    let extension = path.extension().and_then(|it| it.to_str());
    extension.unwrap_or_default()
}

/// Says whether a path is that of a program in Rust.
pub fn is_rust(path: &Path) -> bool {
    extension(path) == "rs"
}

/// The sources of a program and of what it is linked with.
fn sources(what: &Build) -> Result<Vec<PathBuf>> {
    if is_rust(what.path) {
        let start = Some(paths::in_root(START)).filter(|_| what.is_instrumented);
        return Ok([what.path.to_owned()].into_iter().chain(start).collect());
    }
    let own = c::sources(what.path)?;
    if own.is_empty() {
        bail!(
            "{} is no C file, no folder with C files and no file in Rust",
            what.path.display()
        );
    }
    let mut all = c::sources(&paths::in_root(c::RUNTIME))?;
    if what.is_instrumented {
        all.retain(|it| it.file_name().is_none_or(|it| it != "start.S"));
        all.push(paths::in_root(START));
    }
    all.extend(own);
    Ok(all)
}
