// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command-line arguments about a machine.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use donjon_abi::manifest::{DmaProfile, SwitchMode};
use serde::Deserialize;

/// How the inner domain is entered, or that there is none.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Switch {
    /// One TCR_EL1 write each way; the ASID flips with the range.
    Asid,
    /// The ASID stays; the inner mappings are invalidated on the way out.
    Tlbi,
    /// ASID and range in two steps each way.
    Strict,
    /// No inner domain: the same Linux with the protection compiled out.
    None,
}

impl Switch {
    /// The word for the manifest; nothing for [`Switch::None`].
    pub fn mode(self) -> Option<SwitchMode> {
        match self {
            Self::Asid => Some(SwitchMode::Asid),
            Self::Tlbi => Some(SwitchMode::Tlbi),
            Self::Strict => Some(SwitchMode::Strict),
            Self::None => None,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.mode().map_or("none", SwitchMode::name)
    }
}

/// Whether Linux gets devices that can access any memory.
#[derive(ValueEnum, Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Dma {
    /// No device that can access any memory.
    Strict,
    /// The devices with DMA that Linux has a use for: DMA is not protected.
    Open,
}

impl Dma {
    /// The word for the manifest.
    #[must_use]
    pub const fn profile(self) -> DmaProfile {
        match self {
            Self::Strict => DmaProfile::Strict,
            Self::Open => DmaProfile::Open,
        }
    }
}

/// What starts the boot image.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Firmware {
    /// QEMU itself, by Linux's boot protocol.
    #[default]
    None,
    /// EDK2, as a UEFI program.
    Uefi,
    /// GRUB from a disk, started by EDK2.
    Grub,
}

/// The machine unless another is named.
pub const VIRT: &str = "virt";

/// The machine that QEMU plays.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Machine")]
pub struct MachineArguments {
    /// Machine, a recipe in qemu/.
    #[arg(long, default_value = VIRT)]
    pub machine: String,
    /// CPU model [default: the recipe's].
    #[arg(long)]
    pub cpu: Option<String>,
    /// Number of CPUs [default: the recipe's].
    #[arg(long, value_name = "N")]
    pub cpus: Option<u32>,
    /// Memory, such as 512M or 2G [default: the recipe's].
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// How the inner domain is entered.
    #[arg(long, value_enum, default_value = "asid")]
    pub switch: Switch,
    /// Whether Linux gets devices with DMA [default: the recipe's].
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub dma: Option<Dma>,
    /// Memory for compartments where devices are kept from memory, such as 384M [default: 3 % of
    /// the machine's].
    #[arg(long, value_name = "SIZE")]
    pub protected: Option<String>,
    /// Count instructions instead of time: one instruction takes one virtual nanosecond.
    #[arg(long)]
    pub icount: bool,
    /// Enter the boot image at EL2.
    #[arg(long)]
    pub el2: bool,
    /// More words for the kernel command line.
    #[arg(long, value_name = "STR")]
    pub append: Option<String>,
    /// A file with the machine's secret, 32 bytes, which keys of compartments come from: the same
    /// in each boot [default: other keys in each boot].
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
}

impl MachineArguments {
    /// QEMU's `virt` as its recipe has it.
    pub fn virt(switch: Switch) -> Self {
        Self {
            machine: VIRT.into(),
            cpu: None,
            cpus: None,
            memory: None,
            switch,
            dma: None,
            protected: None,
            icount: false,
            el2: false,
            append: None,
            identity: None,
        }
    }
}
