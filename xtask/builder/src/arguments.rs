// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a command line says about the host, and the arguments of `run` and `kernel`.

use std::path::PathBuf;

use clap::Args;
use donjon_machine::arguments::{Firmware, MachineArguments};
use donjon_machine::fvp::FvpArguments;
use donjon_machine::gem5::Gem5Arguments;

/// Where Linux comes from and whether the host may be changed.
#[derive(Args, Clone, Debug, Default)]
pub struct HostArguments {
    /// Only name what is missing on this host; install nothing.
    #[arg(long)]
    pub no_install: bool,
    /// Linux 6.12 source tree to use instead of Debian's package; it is copied, never changed.
    #[arg(long, value_name = "DIR", env = "LINUX_SRC")]
    pub linux: Option<PathBuf>,
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
    #[arg(long, conflicts_with = "exec")]
    pub gdb: bool,
    /// Run a shell command in the guest, print its output alone, exit with its status.
    #[arg(long, value_name = "CMD")]
    pub exec: Option<String>,
    /// Image of a disk for the guest (/dev/vda). What the guest writes is dropped at its end.
    #[arg(long, value_name = "FILE")]
    pub disk: Option<PathBuf>,
    /// What starts the boot image.
    #[arg(long, value_enum, default_value = "none")]
    pub firmware: Firmware,
    /// Arm's model.
    #[command(flatten)]
    pub fvp: FvpArguments,
    /// gem5.
    #[command(flatten)]
    pub gem5: Gem5Arguments,
    /// Seconds that a guest may take with --exec.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub timeout: u64,
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
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}
