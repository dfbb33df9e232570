// SPDX-License-Identifier: MIT OR Apache-2.0
//! Includes the assembly files, and the constants that they share with Rust.

use core::arch::global_asm;

use donjon_abi::boot_info::Arrival;
use donjon_abi::manifest::{Manifest, PE_OFFSET, PE_SIZE};
use donjon_abi::tcr;

/// Block descriptors of the first identity map: valid, AF, and XN for devices.
const DEVICE_BLOCK_LOW: u64 = 1 | (tcr::MAIR_DEVICE as u64) << 2 | 1 << 10;
const DEVICE_BLOCK_HIGH: u64 = 0x60;
/// Block descriptor of device memory for the first identity map, in one word.
pub const DEVICE_BLOCK: u64 = DEVICE_BLOCK_LOW | DEVICE_BLOCK_HIGH << 48;
/// Bits of a descriptor that names a table.
pub const TABLE: u64 = 0b11;
/// Inner shareable write-back memory.
pub const NORMAL_BLOCK: u64 = 1 | (tcr::MAIR_NORMAL as u64) << 2 | 0b11 << 8 | 1 << 10;
/// `EPD1`: no walks of the upper range.
const EPD1: u64 = 1 << 23;

global_asm!(
    include_str!("el2.S"),
    include_str!("stay.S"),
    include_str!("start.S"),
    include_str!("efi/entry.S"),
    MANIFEST_SIZE = const size_of::<Manifest>(),
    PE_OFFSET = const PE_OFFSET,
    PE_SIZE = const PE_SIZE,
    DEVICE_BLOCK_LOW = const DEVICE_BLOCK_LOW,
    DEVICE_BLOCK_HIGH = const DEVICE_BLOCK_HIGH,
    NORMAL_BLOCK_LOW = const NORMAL_BLOCK,
    MAIR = const tcr::MAIR,
    TCR_ARRIVAL = const tcr::BOOT,
    ARRIVAL_SIZE = const size_of::<Arrival>(),
    TCR = const (tcr::BOOT | EPD1) & !tcr::A1,
);

unsafe extern "C" {
    /// The arm64 Image header: first byte of the boot image.
    pub static _start: u8;
    /// Where a loader enters it that is not UEFI.
    pub static boot_entry: u8;
    /// Turns the MMU off and goes to `entry` with a device tree; `efi/entry.S`.
    pub fn efi_leave(device_tree: u64, entry: u64) -> !;
    /// One past the last byte of `efi_leave`.
    pub static efi_leave_end: u8;
    /// First byte of the page that stays.
    pub static boot_stay_start: u8;
    /// One past the last byte of `boot_stay`.
    pub static boot_stay_end: u8;
    /// Where a CPU that PSCI switched on begins.
    pub static boot_secondary: u8;
    /// What such a CPU reads first; in the page that stays.
    pub static mut boot_arrival: Arrival;
    /// Filled in by the packer.
    pub static boot_manifest: Manifest;
    /// The lowest page of the stack, which stays zero.
    pub static boot_stack_start: [u64; 512];
    /// Root of the boot stage's tables.
    pub static mut boot_table_l0: [u64; 512];
    /// Level 1 table of the identity map.
    pub static mut boot_table_l1: [u64; 512];
}
