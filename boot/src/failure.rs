// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why the machine cannot start, in plain words on the console.

extern crate alloc;

use alloc::string::String;

use donjon_core::cpu::cpus::CpuError;
use donjon_core::cpu::requirements::Unmet;
use donjon_core::cpu::start::StartError;
use donjon_core::devices::TooManyDevices;
use donjon_core::devices::reserved::TooManyPieces;
use donjon_core::dma::smmu::SmmuError;
use donjon_core::dma::translation::TranslationError;
use donjon_core::dma::window;
use donjon_core::memory::outer_range::TooManyRanges;
use donjon_core::translation::inner_tables::MapError;
use dtoolkit::error::{FdtParseError, PropertyError, StandardError};
use thiserror::Error;

/// Why.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say it.
pub enum Failure {
    #[error("the boot image carries no manifest: it was not packed (use `cargo xtask run`)")]
    NotPacked,
    #[error("the loader put the boot image at {0:#x}; it must be 2 MiB aligned")]
    Misaligned(u64),
    #[error("the device tree at {0:#x} cannot be read: {1}")]
    DeviceTree(u64, FdtParseError),
    #[error("a property of the device tree cannot be read: {0}")]
    Property(#[from] PropertyError),
    #[error("the device tree does not follow the specification: {0}")]
    Standard(#[from] StandardError),
    #[error("{0}")]
    Cpu(Unmet),
    #[error("{0}")]
    Cpus(#[from] CpuError),
    #[error("a CPU of the device tree has no `reg` of one or two cells")]
    CpuWithoutNumber,
    #[error("{0}")]
    CpuStart(#[from] StartError<'static>),
    #[error(
        "the firmware left LPIs on in the redistributor with the register {0:#x} of the GICv3, which writes a table in memory: start from a firmware or boot loader that uses no ITS"
    )]
    Lpis(u64),
    #[error("the interrupt controller `{0}` is withheld: {1}")]
    InterruptController(String, String),
    #[error("{0}")]
    Reserved(#[from] TooManyPieces),
    #[error("{0} banks of memory are more than the {max}", max = donjon_abi::boot_info::MAX_BANKS)]
    Banks(usize),
    #[error("memory reaches up to {0:#x}; Donjon supports it below 512 GiB")]
    MemoryTooHigh(u64),
    #[error("no {0} KiB of free memory for the inner domain: give the machine more memory")]
    NoRoom(u64),
    #[error(
        "no {0} MiB in one piece for what devices do not reach: give the machine more memory, or ask for less by --protected"
    )]
    NoReserve(u64),
    #[error(
        "Linux and its initial ramdisk or device tree overlap at {0:#x}: give the machine more memory"
    )]
    Overlap(u64),
    #[error(
        "the device tree's /reserved-memory cannot name the inner domain's memory: its #address-cells and #size-cells must be the root's, and 1 or 2"
    )]
    ReservedMemory,
    #[error("{0}")]
    Map(#[from] MapError),
    #[error("{0}")]
    Ranges(#[from] TooManyRanges),
    #[error("{0}")]
    Devices(#[from] TooManyDevices),
    #[error("CPU {0:#x} did not leave the firmware's pen when it was released")]
    Pen(u64),
    #[error(
        "{0} pieces of registers in {1} ranges are more than the {pieces} in {ranges} that the inner domain can write for Linux",
        pieces = donjon_abi::boot_info::MAX_MEDIATED,
        ranges = donjon_abi::boot_info::MAX_READABLE
    )]
    Mediated(usize, usize),
    #[error(
        "there is no identity at {0:#x}, where donjon.identity= of the command line says: it is 8 bytes `DONJONID` and 32 secret ones in RAM, at a multiple of 8 and away from the boot image"
    )]
    Identity(u64),
    #[error(
        "the boot stage needs more than its stack: make boot_stack_start in boot/src/start.S larger"
    )]
    Stack,
    #[error("an address of the image is impossible: {0:#x}")]
    Address(u64),
    #[error("{0}")]
    Smmu(#[from] SmmuError),
    #[error("{0}")]
    Window(#[from] window::TooManyPieces),
    #[error("{0}")]
    DeviceTables(#[from] TranslationError),
    #[error("TCR_EL1 reads back as {0:#x} after {1:#x} was written")]
    Tcr(u64, u64),
}
