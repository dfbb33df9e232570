// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rust targets, components and the toolchain for Miri.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use donjon_machine::process;

use super::Needs;
use crate::paths;
use crate::progress::Step;

/// The nightly toolchain that Miri runs on; nothing else uses it.
pub const NIGHTLY: &str = "nightly-2026-05-20";

/// Target of inner domain and boot stage.
pub const BARE_TARGET: &str = "aarch64-unknown-none-softfloat";
/// Target of programs in compartments.
pub const COMPARTMENT_TARGET: &str = "aarch64-unknown-none";
/// Target of guest programs.
pub const GUEST_TARGET: &str = "aarch64-unknown-linux-musl";

/// Something that rustup installs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A target of the project's toolchain.
    Target(&'static str),
    /// A component of the project's toolchain.
    Component(&'static str),
    /// [`NIGHTLY`] with Miri.
    Nightly,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target(name) => write!(f, "target {name}"),
            Self::Component(name) => write!(f, "component {name}"),
            Self::Nightly => write!(f, "toolchain {NIGHTLY} with miri and rust-src"),
        }
    }
}

impl Missing {
    fn arguments(&self) -> Vec<&'static str> {
        match self {
            Self::Target(name) => vec!["target", "add", name],
            Self::Component(name) => vec!["component", "add", name],
            Self::Nightly => vec![
                "toolchain",
                "install",
                NIGHTLY,
                "--profile",
                "minimal",
                "--component",
                "miri",
                "--component",
                "rust-src",
            ],
        }
    }

    /// The line that installs it.
    pub fn install_line(&self) -> String {
        format!("rustup {}", self.arguments().join(" "))
    }

    /// Installs what is missing.
    pub fn install(&self) -> Result<()> {
        let step = Step::spinner(self.install_line());
        let mut command = Command::new("rustup");
        command.args(self.arguments()).current_dir(paths::root());
        process::logged(
            &mut command,
            &paths::cache()?.join("logs/rustup.log"),
            |_| (),
        )
        .with_context(|| {
            format!(
                "installing the Rust {self} failed; if the network went away, run the same \
                     command again. By hand, in this directory: {}",
                self.install_line()
            )
        })?;
        step.finish();
        Ok(())
    }
}

/// What rustup has to install.
pub fn missing(needs: Needs) -> Result<Vec<Missing>> {
    let sysroot = sysroot(None)?;
    let mut missing = Vec::new();
    for target in [BARE_TARGET, COMPARTMENT_TARGET, GUEST_TARGET] {
        if !sysroot
            .join("lib/rustlib")
            .join(target)
            .join("lib")
            .exists()
        {
            missing.push(Missing::Target(target));
        }
    }
    for (component, file) in [("rustfmt", "bin/rustfmt"), ("clippy", "bin/cargo-clippy")] {
        if !sysroot.join(file).exists() {
            missing.push(Missing::Component(component));
        }
    }
    if needs.miri && !nightly_complete() {
        missing.push(Missing::Nightly);
    }
    Ok(missing)
}

fn nightly_complete() -> bool {
    sysroot(Some(NIGHTLY)).is_ok_and(|root| {
        root.join("bin/cargo-miri").exists()
            && root.join("lib/rustlib/src/rust/library/core").exists()
    })
}

fn sysroot(toolchain: Option<&str>) -> Result<PathBuf> {
    let mut command = Command::new("rustc");
    command
        .args(["--print", "sysroot"])
        .current_dir(paths::root());
    if let Some(toolchain) = toolchain {
        command.env("RUSTUP_TOOLCHAIN", toolchain);
    }
    let text = process::output(&mut command)
        .context("asking rustc where it is; install Rust with rustup (https://rustup.rs)")?;
    Ok(Path::new(text.trim()).to_path_buf())
}
