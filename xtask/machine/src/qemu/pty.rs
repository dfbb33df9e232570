// SPDX-License-Identifier: MIT OR Apache-2.0
//! A guest whose console is a pseudo-terminal of the host, which others open as they open a serial
//! port.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::Boot;
use super::scratch::Scratch;
use crate::process::Running;

/// QEMU names the terminal when it starts.
const LIMIT: Duration = Duration::from_secs(20);

/// A running guest. Dropping it ends the guest.
pub struct OnPty {
    _running: Running,
    _scratch: Scratch,
    device: PathBuf,
}

impl OnPty {
    /// Boots to a shell on a new pseudo-terminal.
    ///
    /// # Errors
    ///
    /// If QEMU cannot be started, or names no terminal.
    pub fn start(boot: &Boot) -> Result<Self> {
        let scratch = Scratch::new()?;
        let initrd = scratch.join("initrd");
        fs::write(&initrd, &boot.initramfs)?;
        let mut command = boot.command(&initrd, "loglevel=4")?;
        command.args(["-serial", "chardev:console"]);
        Self::run(command, scratch)
    }

    /// Runs QEMU with a new pseudo-terminal behind the chardev `console`, which `command` gives to
    /// one of its serial ports.
    ///
    /// # Errors
    ///
    /// If QEMU cannot be started, or names no terminal.
    pub fn with_command(command: Command) -> Result<Self> {
        Self::run(command, Scratch::new()?)
    }

    fn run(mut command: Command, scratch: Scratch) -> Result<Self> {
        command.args(["-chardev", "pty,id=console"]);
        let said = scratch.join("said");
        let file = fs::File::create(&said)?;
        command
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file);
        let running = Running::start(&mut command)?;
        let device = device(&said)?;
        Ok(Self {
            _running: running,
            _scratch: scratch,
            device,
        })
    }

    /// The pseudo-terminal.
    pub fn device(&self) -> &Path {
        &self.device
    }
}

fn device(said: &Path) -> Result<PathBuf> {
    let deadline = Instant::now() + LIMIT;
    loop {
        let text = fs::read_to_string(said)?;
        let lines = text.lines();
        let mut words = lines.flat_map(str::split_whitespace);
        if let Some(device) = words.find(|it| it.starts_with("/dev/pts/")) {
            return Ok(device.into());
        }
        ensure!(
            Instant::now() < deadline,
            "QEMU named no pseudo-terminal: {}",
            text.trim()
        );
        thread::sleep(Duration::from_millis(20));
    }
}
