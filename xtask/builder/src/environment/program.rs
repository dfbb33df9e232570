// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of `cargo xtask check` that Cargo builds. They stand in the cache, each version in a
//! directory of its own, and change nothing else on the host.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use donjon_machine::process;

use crate::paths;
use crate::progress::Step;

/// A crate with a program, at the one version that the project uses.
pub struct Program {
    /// The crate.
    pub name: &'static str,
    /// Version of the crate.
    pub version: &'static str,
    /// The program in it.
    binary: &'static str,
}

/// Checks licences, sources and advisories of dependencies.
pub const CARGO_DENY: Program = Program {
    name: "cargo-deny",
    version: "0.20.2",
    binary: "cargo-deny",
};

/// Checks spelling.
pub const TYPOS: Program = Program {
    name: "typos-cli",
    version: "1.52.0",
    binary: "typos",
};

impl Program {
    /// The path of the program. With `installs` it is built if it is missing, which takes minutes.
    ///
    /// # Errors
    ///
    /// If it is missing and cannot or must not be built.
    pub fn obtain(&self, installs: bool) -> Result<PathBuf> {
        let place = self.place()?;
        let path = place.join("bin").join(self.binary);
        if path.exists() {
            return Ok(path);
        }
        if !installs {
            bail!("nothing was installed because of --no-install");
        }
        let step = Step::spinner(format!("cargo install {} {}", self.name, self.version));
        let mut command = Command::new("cargo");
        command
            .args(self.arguments(&place))
            .current_dir(paths::root());
        let log = paths::cache()?.join(format!("logs/{}.log", self.name));
        process::logged(&mut command, &log, |_| ()).context("building it failed")?;
        step.finish();
        Ok(path)
    }

    /// The line that installs the program where [`obtain`](Self::obtain) looks for it.
    pub fn install_line(&self) -> String {
        let place = self.place().unwrap_or_default();
        format!("cargo {}", self.arguments(&place).join(" "))
    }

    fn place(&self) -> Result<PathBuf> {
        let name = format!("tools/{}-{}", self.name, self.version);
        Ok(paths::cache()?.join(name))
    }

    fn arguments(&self, place: &std::path::Path) -> Vec<String> {
        let fixed = ["install", "--locked", "--version", self.version, "--root"];
        let mut arguments: Vec<String> = fixed.iter().map(|&it| it.to_owned()).collect();
        arguments.extend([place.display().to_string(), self.name.to_owned()]);
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_version_and_place() {
        let line = TYPOS.install_line();
        assert!(
            line.starts_with("cargo install --locked --version 1."),
            "{line}"
        );
        assert!(
            line.ends_with(&format!("tools/typos-cli-{} typos-cli", TYPOS.version)),
            "{line}"
        );
    }
}
