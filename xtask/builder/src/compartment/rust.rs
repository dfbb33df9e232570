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
pub const UNALIGNED: &str = "-Ctarget-feature=-strict-align";
/// Words of the compiler's warnings that options have no names of their own: this one, and those
/// that reserve registers for flow attestation.
const NO_OPTION: [&str; 2] = [
    "feature specified for `-Ctarget-feature`: `strict-align`",
    "feature specified for `-Ctarget-feature`: `reserve-x",
];

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
        if !NO_OPTION.iter().any(|it| self.message.contains(it)) {
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
        .arg(messages())
        .arg(format!("--target={COMPARTMENT_TARGET}"))
        .arg("--manifest-path")
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(target(folder))
        // The toolchain is this repository's.
        .current_dir(paths::root())
        .env("CARGO_ENCODED_RUSTFLAGS", flags(folder).join("\x1f"));
    let mut programs = run(&mut command, folder)?;
    let count = programs.len();
    match programs.pop() {
        Some(program) if count == 1 => Ok(program),
        _ => bail!(
            "{} has {count} programs; an image is made of one",
            folder.display()
        ),
    }
}

/// Runs a cargo command that has the argument of [`messages`] and builds what is at a path. Shows
/// what the compiler says, but for warnings about flags of ours; returns the programs.
///
/// # Errors
///
/// If cargo cannot be run, or fails.
pub fn run(command: &mut Command, path: &Path) -> Result<Vec<PathBuf>> {
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer);
    let mut cargo = Running::start(command)?;
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
            path.display()
        );
    }
    Ok(programs)
}

/// Returns the argument that has cargo write its messages for [`run`]: with colours, where cargo's
/// own messages have them.
pub fn messages() -> &'static str {
    if io::stderr().is_terminal() {
        "--message-format=json-diagnostic-rendered-ansi"
    } else {
        "--message-format=json"
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
