// SPDX-License-Identifier: MIT OR Apache-2.0
//! gem5 in place of QEMU: a machine whose TLB keeps entries with their ASIDs, and which counts
//! cycles.
//!
//! The machine has one CPU and enters the image at EL1. A fast core without timing boots; where
//! another core is asked for, it goes on from the shell. docs/gem5.md says what gem5 models.

mod checkpoint;
mod command;
mod console;
mod install;
mod program;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::arguments::MachineArguments;
use crate::board::session::{Session, Timeouts};
use crate::board::{Finished, boot, interactive};
use crate::machine::bytes;
use crate::qemu::scratch::Scratch;

pub use command::Core;
use console::Console;
use install::Gem5Build;

/// The machine's name on the command line.
pub const NAME: &str = "gem5";

const LEAST_MEMORY: u64 = 256 << 20;
/// What is tried.
const MOST_MEMORY: u64 = 2 << 30;
/// A core with timing runs some hundred thousand instructions in a second.
const TIMEOUTS: Timeouts = Timeouts {
    first: Duration::from_secs(60),
    silence: Duration::from_secs(2),
    answer: Duration::from_secs(600),
};

/// Options for gem5 alone.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Models in place of QEMU")]
pub struct Gem5Arguments {
    /// Source tree of gem5 with a build for Arm, with --machine gem5.
    #[arg(long, value_name = "DIR")]
    pub gem5: Option<PathBuf>,
}

impl Gem5Arguments {
    /// Refuses these options for another machine.
    ///
    /// # Errors
    ///
    /// If one is there.
    pub fn expect_none(&self, machine: &str) -> Result<()> {
        ensure!(
            self.gem5.is_none(),
            "--gem5 is for --machine {NAME}; the machine {machine} does not need it"
        );
        Ok(())
    }
}

/// What gem5 is to be.
#[derive(Clone, Debug)]
pub struct Gem5 {
    build: Gem5Build,
    core: Core,
    memory: u64,
    append: String,
}

/// What it starts.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// Boot image, or the kernel itself.
    pub image: &'a Path,
    /// The initial ramdisk.
    pub initramfs: &'a [u8],
    /// Image of a virtio disk. What the guest writes to it is dropped at its end.
    pub disk: Option<&'a Path>,
    /// Directory of checkpoints.
    pub checkpoints: PathBuf,
}

impl Gem5 {
    /// Checks what is asked for, and that there is a build.
    ///
    /// # Errors
    ///
    /// If something is asked for that this machine does not offer, or there is no build.
    pub fn new(machine: &MachineArguments, options: &Gem5Arguments) -> Result<Self> {
        let core = machine
            .cpu
            .as_deref()
            .map_or(Ok(Core::Minor), Core::named)?;
        ensure!(
            matches!(machine.cpus, None | Some(1)),
            "the machine {NAME} has one CPU; leave --cpus out"
        );
        ensure!(
            !machine.icount && !machine.el2,
            "--icount and --el2 are not offered on the machine {NAME}, which counts cycles and has \
             no EL2"
        );
        let memory = machine.memory.as_deref().map_or(Ok(512 << 20), bytes)?;
        ensure!(
            (LEAST_MEMORY..=MOST_MEMORY).contains(&memory) && memory.is_multiple_of(2 << 20),
            "{} MiB of memory are not possible on the machine {NAME}; allowed: 256M to 2G",
            memory >> 20
        );
        Ok(Self {
            build: Gem5Build::find(options.gem5.as_deref())?,
            core,
            memory,
            append: machine.append.clone().unwrap_or_default(),
        })
    }

    /// Which core this is.
    #[must_use]
    pub fn description(&self) -> String {
        format!("gem5, core {}", self.core.name())
    }

    /// The program, and the part of its source tree that describes the machine.
    #[must_use]
    pub fn files(&self) -> [PathBuf; 2] {
        let configuration = self.build.directory.join(install::CONFIGURATION);
        [self.build.program.clone(), configuration]
    }

    /// Runs with the guest's console on our terminal, until gem5 ends.
    ///
    /// # Errors
    ///
    /// If a file cannot be written, or gem5 does not start or fails.
    pub fn interactive(&self, parts: &Parts<'_>) -> Result<()> {
        let scratch = Scratch::new()?;
        let program = self.program(parts)?;
        let mut command = self.command(&program, parts.disk, None, &scratch)?;
        let mut console = Console::start(&mut command)?;
        let timing = self.core != Core::Atomic;
        interactive::run(&mut console, || match timing {
            true => ask(&scratch, "timing"),
            false => Ok(()),
        })
    }

    /// Runs `command` in the guest's shell, on the core that was asked for. The fast core does the
    /// rest: boot, and the exchange on the console.
    ///
    /// The state at the shell is kept as a checkpoint, and taken from there the next time, unless
    /// there is a disk, which is not part of it.
    ///
    /// # Errors
    ///
    /// Those of [`interactive`](Self::interactive); also if the guest panics, or the whole takes
    /// longer than `timeout`.
    pub fn exec(&self, parts: &Parts<'_>, command: &str, timeout: Duration) -> Result<Finished> {
        self.exec_prepared(parts, &[String::new(), command.to_owned()], timeout)
    }

    /// Runs `command` like [`exec`](Self::exec), after a `preparation` for which the fast core is
    /// good enough. A preparation that fails is the result.
    ///
    /// # Errors
    ///
    /// Those of [`exec`](Self::exec).
    pub fn exec_prepared(
        &self,
        parts: &Parts<'_>,
        [preparation, command]: &[String; 2],
        timeout: Duration,
    ) -> Result<Finished> {
        let deadline = Instant::now() + timeout;
        let left = || deadline.saturating_duration_since(Instant::now());
        let scratch = Scratch::new()?;
        let program = self.program(parts)?;
        let checkpoint = match parts.disk {
            None => Some(self.checkpoint(&parts.checkpoints, &program)?),
            Some(_) => None,
        };
        let checkpoint = checkpoint.as_ref();
        let mut started = self.command(&program, parts.disk, checkpoint, &scratch)?;
        let mut console = Console::start(&mut started)?;
        if checkpoint.is_none_or(|it| it.saved().is_none()) {
            boot::wait(&mut console, timeout).with_context(|| {
                format!("booting in gem5, with --timeout {}", timeout.as_secs())
            })?;
            if let Some(checkpoint) = checkpoint {
                do_now(&scratch, "save", left())?;
                checkpoint.keep()?;
            }
        }
        let mut session = Session::open(console, TIMEOUTS)?;
        if !preparation.is_empty() {
            let prepared = session.run_between(preparation, left(), |_| Ok(()))?;
            if prepared.status != 0 {
                return Ok(prepared);
            }
        }
        let timing = self.core != Core::Atomic;
        session.run_between(command, left(), |begins| match (timing, begins) {
            (true, true) => do_now(&scratch, "timing", left()),
            (true, false) => do_now(&scratch, "fast", left()),
            (false, _) => Ok(()),
        })
    }
}

/// Asks gem5 for something.
fn ask(scratch: &Scratch, request: &str) -> Result<()> {
    fs::write(scratch.join(request), "").context("asking gem5")
}

/// Asks gem5 for something, and waits until it is done.
fn do_now(scratch: &Scratch, request: &str, limit: Duration) -> Result<()> {
    ask(scratch, request)?;
    let deadline = Instant::now() + limit;
    while scratch.join(request).exists() {
        ensure!(
            Instant::now() < deadline,
            "gem5 did not do what it was asked for in time: {request}"
        );
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
