// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of `image` and `flash`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use donjon_builder::arguments::HostArguments;
use donjon_machine::arguments::{Dma, Switch};

/// What `image` makes.
#[derive(Args, Debug)]
pub struct ImageCommand {
    /// The board.
    #[command(subcommand)]
    pub board: ImageBoard,
}

/// Boards of `image`.
#[derive(Subcommand, Debug)]
pub enum ImageBoard {
    /// The image of an SD card for a Raspberry Pi 3 B or B+.
    Rpi3(CardArguments),
    /// Files for a Juno r1 board, and how its firmware, U-Boot and UEFI start them.
    Juno(JunoArguments),
}

/// Arguments of `image rpi3`.
#[derive(Args, Debug)]
pub struct CardArguments {
    /// File to write [default: target/images/rpi3.img].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Where the firmware's files are.
    #[command(flatten)]
    pub firmware: FirmwareArguments,
    /// What is started.
    #[command(flatten)]
    pub build: BuildArguments,
}

/// Arguments about the firmware of a Raspberry Pi.
#[derive(Args, Clone, Debug, Default)]
pub struct FirmwareArguments {
    /// Directory with bootcode.bin, start.elf, fixup.dat and their licence [default: Debian's
    /// package raspi-firmware, downloaded].
    #[arg(long, value_name = "DIR")]
    pub firmware: Option<PathBuf>,
}

/// Arguments of `image juno`.
#[derive(Args, Debug)]
pub struct JunoArguments {
    /// Directory to write to [default: target/images/juno].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What is started.
    #[command(flatten)]
    pub build: BuildArguments,
}

/// Arguments about what a board starts.
#[derive(Args, Clone, Debug)]
pub struct BuildArguments {
    /// How the inner domain is entered.
    #[arg(long, value_enum, default_value = "asid")]
    pub switch: Switch,
    /// Whether Linux gets devices with DMA.
    #[arg(long, value_enum, value_name = "PROFILE", default_value = "strict")]
    pub dma: Dma,
    /// Directory with the board's device trees in place of those of the kernel's build.
    #[arg(long, value_name = "DIR")]
    pub device_trees: Option<PathBuf>,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// What `flash` writes.
#[derive(Args, Debug)]
pub struct FlashCommand {
    /// The board.
    #[command(subcommand)]
    pub board: FlashBoard,
}

/// Boards of `flash`.
#[derive(Subcommand, Debug)]
pub enum FlashBoard {
    /// An SD card for a Raspberry Pi 3 B or B+.
    Rpi3(FlashArguments),
}

/// Arguments of `flash rpi3`.
#[derive(Args, Debug)]
pub struct FlashArguments {
    /// The card, such as /dev/sdX or /dev/mmcblkX. Everything on it is lost.
    #[arg(value_name = "DEVICE")]
    pub device: PathBuf,
    /// Image to write [default: one that is made now].
    #[arg(long, value_name = "FILE", conflicts_with_all = ["firmware", "device_trees"])]
    pub image: Option<PathBuf>,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// Where the firmware's files are.
    #[command(flatten)]
    pub firmware: FirmwareArguments,
    /// What is started.
    #[command(flatten)]
    pub build: BuildArguments,
}

/// Arguments of `release`.
#[derive(Args, Debug)]
pub struct ReleaseArguments {
    /// Directory to write to [default: target/release-files/VERSION].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How the inner domain is entered.
    #[arg(long, value_enum, default_value = "asid")]
    pub switch: Switch,
    /// Whether Linux gets devices with DMA.
    #[arg(long, value_enum, value_name = "PROFILE", default_value = "strict")]
    pub dma: Dma,
    /// Where Linux comes from, and whether packages are installed.
    #[command(flatten)]
    pub host: HostArguments,
}
