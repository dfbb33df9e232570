// SPDX-License-Identifier: MIT OR Apache-2.0
//! Directories and fake tools for tests, and this program run among them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Result, ensure};
use donjon_machine::tools;
use donjon_machine::{paths, process};
use tempfile::TempDir;

/// A directory that goes away with the value.
pub struct Scratch(TempDir);

impl Scratch {
    /// A new directory below target/.
    pub fn new() -> Result<Self> {
        let base = paths::in_root("target/scratch");
        fs::create_dir_all(&base)?;
        Ok(Self(TempDir::new_in(base)?))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file in it.
    pub fn file(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.path().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text)?;
        Ok(path)
    }

    /// A fake program: a shell script in the directory `bin`.
    pub fn program(&self, name: &str, script: &str) -> Result<()> {
        let path = self.file(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    /// Writes a shell script in place of a link to the real program.
    pub fn program_instead(&self, name: &str, script: &str) -> Result<()> {
        let _ = fs::remove_file(self.path().join("bin").join(name));
        self.program(name, script)
    }

    /// Links to the tools that are there, except `missing`, in the directory `bin`.
    pub fn tools_except(&self, missing: &str) -> Result<()> {
        let bin = self.path().join("bin");
        fs::create_dir_all(&bin)?;
        let others = ["cargo", "rustc", "rustup", "dpkg-query", "env", "sh"];
        let names = tools::TOOLS.iter().map(|it| it.name).chain(others);
        for name in names.filter(|name| *name != missing && !name.starts_with('/')) {
            if let (Some(program), false) = (tools::find(name), bin.join(name).exists()) {
                symlink(program, bin.join(name))?;
            }
        }
        Ok(())
    }

    /// The running program with `bin` in front of PATH.
    pub fn xtask(&self, arguments: &[&str]) -> Command {
        let bin = self.path().join("bin");
        let path = std::env::var("PATH").unwrap_or_default();
        self.xtask_with_path(arguments, &format!("{}:{path}", bin.display()))
    }

    /// The running program with `bin` as its whole PATH.
    pub fn xtask_alone(&self, arguments: &[&str]) -> Command {
        self.xtask_with_path(arguments, &self.path().join("bin").to_string_lossy())
    }

    fn xtask_with_path(&self, arguments: &[&str], path: &str) -> Command {
        let mut command = Command::new(process::this_program());
        command
            .args(arguments)
            .env("PATH", path)
            .env_remove("LINUX_SRC");
        command.env("XDG_CACHE_HOME", self.path().join("cache"));
        command
    }
}

/// Runs `command`, which must fail with all of `words` in what it says and without a panic.
pub fn expect_failure(mut command: Command, words: &[&str]) -> Result<()> {
    let output: Output = process::both(&mut command)?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.code() == Some(1) || output.status.code() == Some(2),
        "it ended with {} and said:\n{said}",
        output.status
    );
    ensure!(!said.contains("panicked at"), "it panicked:\n{said}");
    for word in words {
        ensure!(said.contains(word), "it did not say `{word}` but:\n{said}");
    }
    Ok(())
}
