// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a figure depends on, as one digest.
//!
//! The commit is no part of it: a change that is not committed changes figures as well.

#[cfg(test)]
mod tests;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use donjon_figures::store::hexadecimal;
use donjon_machine::gem5::{self, Gem5};
use donjon_machine::process;
use donjon_machine::qemu::Boot;
use donjon_machine::tools::QEMU;
use sha2::{Digest, Sha256};

/// A digest of inputs, each with its name.
#[derive(Clone, Default)]
pub struct Inputs {
    digest: Sha256,
    /// Figures depend on how busy the host is, too: what was measured at another time is not taken.
    is_timed: bool,
}

impl Inputs {
    /// Digests what measures: this very program, which tells the guest what to do, and the
    /// emulator.
    ///
    /// # Errors
    ///
    /// If there is no QEMU, or the program cannot be read.
    pub fn of_host() -> Result<Self> {
        let emulator = process::output(Command::new(QEMU).arg("--version"))?;
        Self::default()
            .with("emulator", emulator)
            .with_file("program", Path::new("/proc/self/exe"))
    }

    /// Digests what QEMU starts, and what the guest runs. The script has what the options
    /// choose: rows, sizes and repetitions.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn of_boot(boot: &Boot, script: &str) -> Result<Self> {
        let rest = Boot {
            image: PathBuf::new(),
            initramfs: Vec::new(),
            ..boot.clone()
        };
        let mut inputs = Self::default()
            .with("boot", format!("{rest:?}"))
            .timed(!boot.machine.icount)
            .with("initramfs", &boot.initramfs)
            .with("script", script)
            .with_file("image", &boot.image)?;
        for file in [&boot.grub, &boot.device_tree].into_iter().flatten() {
            inputs = inputs.with_file("file", file)?;
        }
        let disks = [&boot.disk, &boot.usb_disk].into_iter().flatten();
        for file in disks.map(|it| &it.file).chain(&boot.packages) {
            inputs = inputs.with_large("disk", file)?;
        }
        Ok(inputs)
    }

    /// Digests what gem5 starts.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn of_gem5(gem5: &Gem5, parts: &gem5::Parts<'_>, commands: &[String]) -> Result<Self> {
        let mut inputs = Self::default()
            .with("machine", format!("{gem5:?}"))
            .with("initramfs", parts.initramfs)
            .with_file("image", parts.image)?;
        for command in commands {
            inputs = inputs.with("command", command);
        }
        let files = gem5.files();
        for file in files.iter().map(PathBuf::as_path).chain(parts.disk) {
            inputs = inputs.with_large("disk", file)?;
        }
        Ok(inputs)
    }

    /// Adds an input. Lengths keep one input from running into the next.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        for part in [name.as_bytes(), value.as_ref()] {
            self.digest.update((part.len() as u64).to_le_bytes());
            self.digest.update(part);
        }
        self
    }

    /// Adds whether figures are times.
    #[must_use]
    pub fn timed(self, is_timed: bool) -> Self {
        Self { is_timed, ..self }
    }

    /// Says whether figures are times.
    #[must_use]
    pub const fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// Adds what is in a file.
    fn with_file(self, name: &str, file: &Path) -> Result<Self> {
        let content = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
        Ok(self.with(name, content))
    }

    /// Adds a file of gigabytes. Its place on the disk, its length and the time of its last change
    /// stand for it: the system notes each change, and a user cannot set that time.
    fn with_large(self, name: &str, file: &Path) -> Result<Self> {
        let about = fs::metadata(file).with_context(|| format!("reading {}", file.display()))?;
        let place = [about.dev(), about.ino(), about.len()];
        let changed = [about.ctime(), about.ctime_nsec()];
        Ok(self.with(name, format!("{place:?} {changed:?}")))
    }

    /// Gives the digest of the inputs, in hexadecimal.
    #[must_use]
    pub fn key(self) -> String {
        hexadecimal(&self.digest.finalize())
    }
}
