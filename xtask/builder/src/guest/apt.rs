// SPDX-License-Identifier: MIT OR Apache-2.0
//! apt-get for another machine with a state of its own: neither root nor a foreign architecture on
//! the host is needed, and nothing of the host's changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use donjon_machine::process;

use crate::paths;

/// What Debian calls the guest's architecture.
pub const ARM64: &str = "arm64";

/// An apt-get whose state is in a directory.
pub struct Apt {
    directory: PathBuf,
    sources: Option<PathBuf>,
    installed: PathBuf,
    architecture: String,
}

impl Apt {
    /// Prepares apt-get with the host's sources, or those in the directory `sources`; nothing is
    /// installed.
    pub fn new(directory: &Path, sources: Option<&Path>) -> Result<Self> {
        for name in ["lists/partial", "archives/partial"] {
            fs::create_dir_all(directory.join(name))?;
        }
        Ok(Self {
            directory: directory.to_owned(),
            sources: sources.map(Path::to_owned),
            installed: "/dev/null".into(),
            architecture: ARM64.into(),
        })
    }

    /// Takes the packages of `status`, a file of dpkg's, for installed.
    pub fn with_installed(self, status: &Path) -> Self {
        Self {
            installed: status.to_owned(),
            ..self
        }
    }

    /// Takes packages of another architecture.
    pub fn with_architecture(self, name: &str) -> Self {
        Self {
            architecture: name.into(),
            ..self
        }
    }

    /// Where `install` leaves packages.
    pub fn archives(&self) -> PathBuf {
        self.directory.join("archives")
    }

    /// Runs apt-get in its directory.
    pub fn run(&self, arguments: &[&str]) -> Result<()> {
        self.run_watched(arguments, |_| ())
    }

    /// Runs apt-get in its directory, and hands each line that it writes to `on_line`.
    pub fn run_watched(&self, arguments: &[&str], on_line: impl FnMut(&str)) -> Result<()> {
        let mut command = Command::new("apt-get");
        if let Some(sources) = &self.sources {
            let parts = format!("Dir::Etc::sourceparts={}", sources.display());
            command.args(["-o", "Dir::Etc::sourcelist=/dev/null", "-o", &parts]);
        }
        for option in [
            format!("APT::Architecture={}", self.architecture),
            format!("APT::Architectures={}", self.architecture),
            "APT::Sandbox::User=".to_owned(),
            "APT::Update::Post-Invoke=".to_owned(),
            // Without it `update` succeeds where a mirror does not answer, with lists of nothing.
            "APT::Update::Error-Mode=any".to_owned(),
            "Acquire::Languages=none".to_owned(),
            format!("Dir::State::status={}", self.installed.display()),
            format!(
                "Dir::State::lists={}",
                self.directory.join("lists").display()
            ),
            format!("Dir::Cache::archives={}", self.archives().display()),
            "Dir::Cache::pkgcache=".to_owned(),
            "Dir::Cache::srcpkgcache=".to_owned(),
            // The state is in use by this command alone.
            "Debug::NoLocking=true".to_owned(),
        ] {
            command.arg("-o").arg(option);
        }
        command.arg("--quiet").args(arguments);
        command.current_dir(&self.directory);
        process::logged(
            &mut command,
            &paths::cache()?.join("logs/packages.log"),
            on_line,
        )
    }
}
