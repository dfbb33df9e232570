// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in Rust.

use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use donjon_machine::process::Running;
use donjon_machine::qemu::SOURCES;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{BUILDS, SCRIPT};
use crate::bare::{ALIKE, Place};
use crate::environment::COMPARTMENT_TARGET;
use crate::paths;

/// The target forbids accesses that are not aligned, for memory of devices and for EL1 without an
/// MMU. A compartment has neither: its pages are Normal memory, its own and shared ones, and the
/// inner domain clears `SCTLR_EL1.A` while it runs one. Programs in C and processes are compiled
/// so, too. Crates that come with the compiler, such as core, stay as they are.
const UNALIGNED: &str = "-Ctarget-feature=-strict-align";
/// Words of the compiler's warning that this option has no name of its own.
const NO_OPTION: &str = "feature specified for `-Ctarget-feature`: `strict-align`";

/// What cargo says: what it built, or what the compiler said.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    message: Option<Diagnostic>,
}

/// A message of the compiler.
#[derive(Deserialize)]
struct Diagnostic {
    message: String,
    rendered: Option<String>,
}

impl Diagnostic {
    /// Prints it, unless it is about a flag of ours.
    fn show(&self) {
        if !self.message.ends_with(NO_OPTION) {
            eprint!("{}", self.rendered.as_ref().unwrap_or(&self.message));
        }
    }
}

/// Builds the crate in a folder, which must have one program. What it makes does not depend on the
/// place.
pub fn build(folder: &Path) -> Result<PathBuf> {
    let mut command = Command::new("cargo");
    command
        .args(["build", "--release", "--quiet", "--bins"])
        .arg(format!("--message-format={}", format()))
        .arg(format!("--target={COMPARTMENT_TARGET}"))
        .arg("--manifest-path")
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(target(folder))
        // The toolchain is this repository's.
        .current_dir(paths::root())
        .env("CARGO_ENCODED_RUSTFLAGS", flags(folder).join("\x1f"))
        .stdin(Stdio::null());
    let (reader, writer) = io::pipe()?;
    command.stdout(writer);
    let mut cargo = Running::start(&mut command)?;
    command.stdout(Stdio::null());
    let mut programs = Vec::new();
    for line in BufReader::new(reader).lines() {
        let message: Message = serde_json::from_str(&line?).context("reading cargo's messages")?;
        programs.extend(message.executable);
        message.message.iter().for_each(Diagnostic::show);
    }
    let status = cargo.wait()?;
    if !status.success() {
        bail!(
            "building {} failed ({status}); cargo's messages stand above",
            folder.display()
        );
    }
    let count = programs.len();
    match programs.pop() {
        Some(program) if count == 1 => Ok(program),
        _ => bail!(
            "{} has {count} programs; an image is made of one",
            folder.display()
        ),
    }
}

/// In colours, where cargo's own messages have them.
fn format() -> &'static str {
    if io::stderr().is_terminal() {
        "json-diagnostic-rendered-ansi"
    } else {
        "json"
    }
}

/// Whether a program is in this repository.
fn is_ours(folder: &Path) -> bool {
    folder.starts_with(paths::root())
}

/// Where a program is built. Flags of our own are the same for all, so they share what they have in
/// common; cargo would build all of it anew for each change of a flag.
fn target(folder: &Path) -> PathBuf {
    let builds = paths::in_root(BUILDS);
    if is_ours(folder) {
        return builds;
    }
    let place = Sha256::digest(folder.as_os_str().as_encoded_bytes());
    builds.join(paths::digest_name(&place))
}

fn flags(folder: &Path) -> Vec<String> {
    let place = Place::ours();
    let mut flags = vec![
        "-Cstrip=symbols".to_owned(),
        UNALIGNED.into(),
        format!("-Clink-arg=-T{}", paths::in_root(SCRIPT).display()),
        "-Clink-arg=-zmax-page-size=4096".into(),
        format!("--remap-path-prefix={}={SOURCES}", place.sources.display()),
    ];
    flags.extend(ALIKE.map(str::to_owned));
    if !is_ours(folder) {
        flags.push(format!("--remap-path-prefix={}=program", folder.display()));
    }
    if let Some(home) = &place.cargo_home {
        flags.push(format!("--remap-path-prefix={}=cargo", home.display()));
    }
    flags
}
