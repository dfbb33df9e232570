// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in Rust.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use donjon_machine::process::Running;
use donjon_machine::qemu::SOURCES;
use serde::Deserialize;

use super::{BUILDS, SCRIPT};
use crate::bare::Place;
use crate::environment::COMPARTMENT_TARGET;
use crate::paths;

/// What cargo says about something that it built.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
}

/// Builds the crate in a folder, which must have one program. What it makes does not depend on the
/// place.
pub fn build(folder: &Path) -> Result<PathBuf> {
    let mut command = Command::new("cargo");
    command
        .args(["build", "--release", "--quiet", "--bins"])
        .arg("--message-format=json-render-diagnostics")
        .arg(format!("--target={COMPARTMENT_TARGET}"))
        .arg("--manifest-path")
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(paths::in_root(BUILDS))
        // The toolchain is this repository's.
        .current_dir(paths::root())
        .env("CARGO_ENCODED_RUSTFLAGS", flags(folder).join("\x1f"))
        .stdin(Stdio::null());
    let (mut reader, writer) = std::io::pipe()?;
    command.stdout(writer);
    let mut cargo = Running::start(&mut command)?;
    command.stdout(Stdio::null());
    let said = std::io::read_to_string(&mut reader)?;
    let status = cargo.wait()?;
    if !status.success() {
        bail!(
            "building {} failed ({status}); cargo's messages stand above",
            folder.display()
        );
    }
    let mut programs = Vec::new();
    for line in said.lines() {
        let message: Message = serde_json::from_str(line).context("reading cargo's messages")?;
        programs.extend(message.executable);
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

fn flags(folder: &Path) -> Vec<String> {
    let place = Place::ours();
    let mut flags = vec![
        "-Crelocation-model=static".to_owned(),
        "-Cstrip=symbols".into(),
        format!("-Clink-arg=-T{}", paths::in_root(SCRIPT).display()),
        "-Clink-arg=-zmax-page-size=4096".into(),
        format!("--remap-path-prefix={}=program", folder.display()),
    ];
    // The last one that fits is taken.
    flags.push(format!(
        "--remap-path-prefix={}={SOURCES}",
        place.sources.display()
    ));
    if let Some(home) = &place.cargo_home {
        flags.push(format!("--remap-path-prefix={}=cargo", home.display()));
    }
    flags
}
