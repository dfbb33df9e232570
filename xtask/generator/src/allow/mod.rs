// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of system instructions that the outer domain's code may contain: what is generated
//! from it, and what a kernel contains.

mod arguments;
mod code;
mod encoding;
mod generate;
mod list;
mod report;
mod table;

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

use crate::generated;

pub use arguments::AllowListArguments;
pub use report::Report;

const ALLOWED: &str = "inner-domain/core/src/code/scan/allow_list.rs";
const NAMES: &str = "inner-domain/core/src/code/scan/names.rs";
const DOCUMENT: &str = "docs/allow-list.md";

/// Writes what is generated, or compares it, or shows a kernel.
pub fn run(arguments: &AllowListArguments) -> Result<u8> {
    match &arguments.vmlinux {
        Some(path) if arguments.check => check_vmlinux(path).map(|_| 0),
        Some(path) => show(path),
        None => generate(arguments.check).map(|()| 0),
    }
}

/// Fails if code of `path` (a linked kernel or a module) that stays executable after boot contains
/// an instruction that is not on the list; says which.
pub fn check_vmlinux(path: &Path) -> Result<Report> {
    let report = Report::of(path)?;
    report
        .ensure_clean()
        .with_context(|| format!("{} must not run over the inner domain", path.display()))?;
    Ok(report)
}

/// Fails as [`check_vmlinux`] does for an object of the kernel; one without code passes.
pub fn check_object(path: &Path) -> Result<()> {
    let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let file = object::File::parse(&*bytes).with_context(|| path.display().to_string())?;
    if code::has_code(&file) {
        check_vmlinux(path)?;
    }
    Ok(())
}

/// Writes the generated files, or with `check` only compares them.
pub fn generate(check: bool) -> Result<()> {
    let list = list::read()?;
    let files = [
        (ALLOWED, generate::allowed(&list)?),
        (NAMES, generate::names(&list)?),
        (DOCUMENT, table::document(&list)),
    ];
    generated::write_or_check(files, check, list::PATH, "cargo xtask allow-list")
}

/// Lists the words of a file; the status is 1 if one is refused.
fn show(path: &Path) -> Result<u8> {
    let report = Report::of(path)?;
    let mut out = BufWriter::new(io::stdout().lock());
    report.print(&list::read()?, &mut out)?;
    out.flush()?;
    Ok(u8::from(report.refused().next().is_some()))
}

#[cfg(test)]
mod tests;
