// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rust targets, components and the toolchain for Miri.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use donjon_machine::process;

use super::Needs;
use crate::paths;
use crate::progress::Step;

/// The nightly toolchain that Miri runs on, and that builds programs in Rust for flow attestation;
/// nothing else uses it.
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
    /// [`NIGHTLY`] with the sources of core.
    CoreSources,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target(name) => write!(f, "target {name}"),
            Self::Component(name) => write!(f, "component {name}"),
            Self::Nightly => write!(f, "toolchain {NIGHTLY} with miri and rust-src"),
            Self::CoreSources => write!(f, "toolchain {NIGHTLY} with rust-src"),
        }
    }
}

impl Missing {
    fn arguments(&self) -> Vec<&'static str> {
        const MINIMAL: [&str; 7] = [
            "toolchain",
            "install",
            NIGHTLY,
            "--profile",
            "minimal",
            "--component",
            "rust-src",
        ];
        match self {
            Self::Target(name) => vec!["target", "add", name],
            Self::Component(name) => vec!["component", "add", name],
            Self::Nightly => [&MINIMAL[..], &["--component", "miri"]].concat(),
            Self::CoreSources => MINIMAL.to_vec(),
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
    } else if needs.core_sources && core_sources().is_err() {
        missing.push(Missing::CoreSources);
    }
    Ok(missing)
}

fn nightly_complete() -> bool {
    let has_miri = |it: PathBuf| it.join("bin/cargo-miri").exists();
    sysroot(Some(NIGHTLY)).is_ok_and(has_miri) && core_sources().is_ok()
}

/// Finds the folder of [`NIGHTLY`] that has the sources of core, `library/core` among them.
///
/// # Errors
///
/// If the toolchain or its component `rust-src` is not installed; the error says how to install it.
pub fn core_sources() -> Result<PathBuf> {
    sources_in(sysroot(Some(NIGHTLY)).ok())
}

fn sources_in(sysroot: Option<PathBuf>) -> Result<PathBuf> {
    let folder = sysroot.map(|it| it.join("lib/rustlib/src/rust"));
    let Some(folder) = folder.filter(|it| it.join("library/core").exists()) else {
        bail!(
            "the {} is not installed, and programs in Rust for flow attestation need a core that \
             is built with them; install it: {}",
            Missing::CoreSources,
            Missing::CoreSources.install_line()
        );
    };
    Ok(folder)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_core_sources_are_installed_by_one_line() {
        let line = Missing::CoreSources.install_line();
        let wanted = format!("rustup toolchain install {NIGHTLY} --profile minimal");
        assert_eq!(line, format!("{wanted} --component rust-src"));
        for sysroot in [None, Some(PathBuf::from("/nowhere"))] {
            let refused = sources_in(sysroot).expect_err("they are not there");
            assert!(refused.to_string().ends_with(&line), "{refused}");
        }
        // What Miri needs has them as well.
        assert_eq!(
            Missing::Nightly.install_line(),
            format!("{line} --component miri")
        );
    }
}
