// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a UEFI firmware gets control back, in plain words on its console.

use thiserror::Error;
use uefi_raw::Status;

use crate::failure::Failure;

/// Why.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say it.
pub enum EfiFailure {
    #[error(
        "ACPI-only machines are not supported: the firmware offers ACPI tables and no device tree; if its set-up has a choice, choose the device tree (QEMU: -machine acpi=off)"
    )]
    OnlyAcpi,
    #[error("the firmware offers no device tree")]
    NoDeviceTree,
    #[error("{0}")]
    Boot(#[from] Failure),
    #[error(
        "the device tree cannot name memory at {0:#x}: its #address-cells and #size-cells must be 1 or 2, and large enough"
    )]
    Cells(u64),
    #[error("the command line is not UTF-16 text")]
    CommandLine,
    #[error("the firmware has no {0} KiB of free memory: {1}")]
    Allocate(u64, Status),
    #[error("the firmware does not give its memory map: {0}")]
    MemoryMap(Status),
    #[error("the initial ramdisk cannot be loaded: {0}")]
    InitialRamdisk(Status),
    #[error(
        "the memory at {0:#x}, where the firmware put us or our data, is not in one of the {max} largest pieces of its memory map", max = donjon_abi::boot_info::MAX_BANKS
    )]
    Elsewhere(u64),
    #[error("the firmware does not end its boot services: {0}")]
    Exit(Status),
}

impl EfiFailure {
    /// What the firmware is told.
    pub const fn status(&self) -> Status {
        match self {
            Self::Allocate(_, status)
            | Self::MemoryMap(status)
            | Self::InitialRamdisk(status)
            | Self::Exit(status) => *status,
            _ => Status::UNSUPPORTED,
        }
    }
}
