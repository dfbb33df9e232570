// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a command line says about the host, and the arguments of `run` and `kernel`.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Args;
use donjon_machine::arguments::{Firmware, MachineArguments};
use donjon_machine::fvp::FvpArguments;
use donjon_machine::gem5::Gem5Arguments;

use crate::rootfs::Root;

/// What `--config` names in place of a file.
const DEBIAN: &str = "debian";

/// Where Linux comes from and whether the host may be changed.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Kernel and host")]
pub struct HostArguments {
    /// Only name what is missing on this host; install nothing.
    #[arg(long)]
    pub no_install: bool,
    /// Linux 6.12 source tree to use instead of Debian's package; it is copied, never changed.
    #[arg(long, value_name = "DIR", env = "LINUX_SRC")]
    pub linux: Option<PathBuf>,
    /// Options of the kernel (CONFIG_NAME=value) to lay over ours. Refused ones are named. The word
    /// debian: Debian's whole configuration, with ours laid over it.
    #[arg(long, value_name = "FILE|debian")]
    pub config: Option<PathBuf>,
}

impl HostArguments {
    /// The kernel has Debian's configuration, with ours laid over it.
    pub fn has_debian_config(&self) -> bool {
        self.config
            .as_deref()
            .is_some_and(|it| it == Path::new(DEBIAN))
    }
}

/// Arguments of `run`.
#[derive(Args, Debug)]
pub struct RunArguments {
    /// The machine.
    #[command(flatten)]
    pub machine: MachineArguments,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
    /// Wait for gdb before the first instruction, and print the line that attaches it.
    #[arg(long, help_heading = "What to run", conflicts_with = "exec")]
    pub gdb: bool,
    /// Run a shell command in the guest, print its output alone, exit with its status.
    #[arg(long, help_heading = "What to run", value_name = "CMD")]
    pub exec: Option<String>,
    /// Image of a disk for the guest (/dev/vda). What the guest writes is dropped at its end.
    #[arg(long, help_heading = "Guest", value_name = "FILE")]
    pub disk: Option<PathBuf>,
    /// A disk behind USB, by its image: /dev/sda in the guest. Changes to it are dropped.
    #[arg(long, help_heading = "Guest", value_name = "IMAGE")]
    pub usb_disk: Option<PathBuf>,
    /// A file for the guest, at /files/NAME. Can be given more than once.
    #[arg(
        long = "file",
        help_heading = "Guest",
        value_name = "FILE",
        conflicts_with = "rootfs"
    )]
    pub files: Vec<PathBuf>,
    /// The programs of `bench flow` at /flow, and /flow/run.sh, which prints what they take with
    /// --icount and --cpus 1.
    #[arg(long, help_heading = "Guest", conflicts_with = "rootfs")]
    pub flow: bool,
    /// Root file system: debian, debian:PACKAGE,…, or an image. Changes to it are dropped.
    #[arg(
        long,
        help_heading = "Guest",
        value_name = "ROOT",
        conflicts_with = "disk"
    )]
    pub rootfs: Option<Root>,
    /// Keep what the guest changes in its root file system.
    #[arg(long, help_heading = "Guest", requires = "rootfs")]
    pub keep: bool,
    /// Headers and tools for modules of your own, at /lib/modules/RELEASE/build in the root file
    /// system.
    #[arg(long, help_heading = "Guest", requires = "rootfs")]
    pub build_dir: bool,
    /// A network card, behind which QEMU plays a router to the host's network.
    #[arg(long, help_heading = "Guest")]
    pub network: bool,
    /// What starts the boot image.
    #[arg(long, help_heading = "Machine", value_enum, default_value = "none")]
    pub firmware: Firmware,
    /// Arm's model.
    #[command(flatten)]
    pub fvp: FvpArguments,
    /// gem5.
    #[command(flatten)]
    pub gem5: Gem5Arguments,
    /// Seconds that a guest may take with --exec.
    #[arg(
        long,
        help_heading = "What to run",
        value_name = "SECONDS",
        default_value_t = 120
    )]
    pub timeout: u64,
}

impl RunArguments {
    /// Refuses a root file system, a network and files where there is only a model's machine.
    pub fn expect_no_rootfs(&self) -> Result<()> {
        ensure!(
            self.rootfs.is_none() && !self.network && self.usb_disk.is_none(),
            "--rootfs, --network and --usb-disk are not offered on the machine {}: --disk is",
            self.machine.machine
        );
        ensure!(
            self.files.is_empty() && !self.flow,
            "--file and --flow are not offered on the machine {}",
            self.machine.machine
        );
        Ok(())
    }
}

/// Arguments of `kernel`.
#[derive(Args, Debug)]
pub struct KernelArguments {
    /// The kernel with the protection compiled out.
    #[arg(long)]
    pub native: bool,
    /// Only unpack and patch the source.
    #[arg(long)]
    pub source: bool,
    /// Print the directory to build modules of your own against: make -C DIR M=… modules.
    #[arg(long, conflicts_with = "source")]
    pub build_dir: bool,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}
