// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arm's Base RevC model (an FVP) in place of QEMU.
//!
//! The model starts at EL3 in the firmware, a BL31 of TF-A that enters the image at EL2. Image,
//! device tree and initial ramdisk are put into its memory beforehand; the addresses are built
//! into the firmware. docs/fvp.md says how it is built.

mod command;
mod parameters;
mod terminal;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::arguments::MachineArguments;
use crate::board::session::{Session, Timeouts};
use crate::board::{Finished, boot};
use crate::machine::bytes;

pub use parameters::{MODEL, Model};
use terminal::Terminal;

/// The machine's name on the command line.
pub const NAME: &str = "fvp";

/// Most CPUs: those of one cluster. The number of a CPU is in Aff1, its cluster in Aff2, and the
/// gate's index of a CPU has no bit of Aff2.
const MOST_CPUS: u32 = 4;
const LEAST_MEMORY: u64 = 256 << 20;
/// The first bank of RAM without its last 16 MiB, which the firmware keeps.
const MOST_MEMORY: u64 = 0x7f00_0000;
/// The model is much slower than a board.
const TIMEOUTS: Timeouts = Timeouts {
    first: Duration::from_secs(30),
    silence: Duration::from_millis(700),
    answer: Duration::from_secs(60),
};

/// Options for the model alone.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Models in place of QEMU")]
pub struct FvpArguments {
    /// Directory of the firmware bl31.bin, with --machine fvp.
    #[arg(long, value_name = "DIR")]
    pub fvp_firmware: Option<PathBuf>,
    /// Device tree of the machine, with --machine fvp [default: fvp-base-revc.dtb of the kernel's
    /// build].
    #[arg(long, value_name = "FILE")]
    pub dtb: Option<PathBuf>,
}

impl FvpArguments {
    /// Refuses these options for another machine.
    ///
    /// # Errors
    ///
    /// If one is there.
    pub fn expect_none(&self, machine: &str) -> Result<()> {
        ensure!(
            self.fvp_firmware.is_none() && self.dtb.is_none(),
            "--fvp-firmware and --dtb are for --machine {NAME}; the machine {machine} needs neither"
        );
        Ok(())
    }
}

/// What the model is to be.
#[derive(Clone, Debug)]
pub struct Fvp {
    model: Model,
    firmware: PathBuf,
    cpus: u32,
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
    /// The machine's device tree.
    pub tree: &'a Path,
    /// Image of a virtio disk. What the guest writes to it is dropped at its end.
    pub disk: Option<&'a Path>,
}

impl Fvp {
    /// Checks what is asked for, and that model and firmware are there.
    ///
    /// # Errors
    ///
    /// If something is asked for that the model does not offer, or it or the firmware is missing.
    pub fn new(machine: &MachineArguments, options: &FvpArguments) -> Result<Self> {
        if let Some(cpu) = &machine.cpu {
            bail!("--cpu {cpu} is not offered: the model has CPUs of its own (AEMvA)");
        }
        ensure!(
            !machine.icount,
            "--icount is not offered: the model has no instruction-counted time"
        );
        let cpus = machine.cpus.unwrap_or(MOST_CPUS);
        ensure!(
            (1..=MOST_CPUS).contains(&cpus),
            "{cpus} CPUs are not possible on the machine {NAME}; allowed: 1 to {MOST_CPUS}, one \
             cluster"
        );
        let memory = machine.memory.as_deref().map_or(Ok(1 << 30), bytes)?;
        ensure!(
            (LEAST_MEMORY..=MOST_MEMORY).contains(&memory) && memory.is_multiple_of(1 << 20),
            "{} MiB of memory are not possible on the machine {NAME}; allowed: 256M to {}M",
            memory >> 20,
            MOST_MEMORY >> 20
        );
        let append = machine.append.clone().unwrap_or_default();
        let model = Model::installed()?;
        Ok(Self {
            firmware: firmware(options.fvp_firmware.as_deref())?,
            model,
            cpus,
            memory,
            append,
        })
    }

    /// Runs with the guest's console on our terminal, until the guest switches the machine off.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or the model does not start or fails.
    pub fn interactive(&self, parts: &Parts<'_>) -> Result<()> {
        let (mut command, _scratch) = self.command(parts, "loglevel=4")?;
        terminal::interactive(&mut command)
    }

    /// Boots, and runs `command` in the guest's shell.
    ///
    /// # Errors
    ///
    /// Those of [`interactive`](Self::interactive); also if the guest panics, or the whole takes
    /// longer than `timeout`.
    pub fn exec(&self, parts: &Parts<'_>, command: &str, timeout: Duration) -> Result<Finished> {
        let deadline = Instant::now() + timeout;
        let (mut model, _scratch) = self.command(parts, "loglevel=4")?;
        let mut terminal = Terminal::start(&mut model)?;
        boot::wait(&mut terminal, timeout)
            .with_context(|| format!("booting in {MODEL}, with --timeout {}", timeout.as_secs()))?;
        let mut session = Session::open(terminal, TIMEOUTS)?;
        session.run(command, deadline.saturating_duration_since(Instant::now()))
    }
}

fn firmware(directory: Option<&Path>) -> Result<PathBuf> {
    let build = format!(
        "in a tree of TF-A:\n  make PLAT=fvp CROSS_COMPILE=aarch64-linux-gnu- RESET_TO_BL31=1 \
         ARM_LINUX_KERNEL_AS_BL33=1 PRELOADED_BL33_BASE={:#x} ARM_PRELOADED_DTB_BASE={:#x} bl31\n\
         which leaves it in build/fvp/release; docs/fvp.md says more",
        command::IMAGE,
        command::TREE
    );
    let Some(directory) = directory else {
        bail!(
            "the model has no firmware of its own: add --fvp-firmware DIR, with a bl31.bin \
             built {build}"
        );
    };
    let file = directory.join("bl31.bin");
    if !file.is_file() {
        let other = if directory.join("fip.bin").is_file() {
            " (its fip.bin cannot be used: the device tree and kernel parameters are built into it)"
        } else {
            ""
        };
        bail!(
            "there is no bl31.bin in {}{other}; it is built {build}",
            directory.display()
        );
    }
    fs::canonicalize(&file).with_context(|| format!("finding {}", file.display()))
}

#[cfg(test)]
mod tests;
