// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory layout of the machine, and the bits of its tables.

use donjon_abi::layout::{SLOT_SIZE, TABLE_BLOCK_SIZE, TEXT_WINDOW};

use crate::descriptor::PAGE;
use crate::walk::UPPER;

pub const AF: u64 = 1 << 10;
pub const SHARED: u64 = 3 << 8;
pub const READ_ONLY: u64 = 1 << 7;
pub const USER: u64 = 1 << 6;
pub const NON_GLOBAL: u64 = 1 << 11;
pub const DIRTY: u64 = 1 << 51;
pub const CONTIGUOUS: u64 = 1 << 52;
pub const PXN: u64 = 1 << 53;
pub const UXN: u64 = 1 << 54;
/// AttrIndx of non-cacheable memory and of devices.
pub const NON_CACHEABLE: u64 = 2 << 2;
pub const DEVICE: u64 = 4 << 2;

pub const KERNEL_DATA: u64 = AF | SHARED | PXN | UXN;
pub const KERNEL_TEXT: u64 = AF | SHARED | READ_ONLY | UXN;
pub const USER_DATA: u64 = AF | SHARED | USER | NON_GLOBAL | PXN | UXN;

pub const RAM: u64 = 0x4000_0000;
pub const RAM_SIZE: u64 = 64 << 20;
pub const IMAGE: u64 = 0xffff_c000_8000_0000;
pub const PHYSICAL: u64 = 0x4040_0000;
pub const TEXT: u64 = 0x1_0000;
pub const RODATA: u64 = 0x2_0000;
pub const BLOCK: u64 = 0x5_0000;
pub const DATA: u64 = 0x6_0000;
pub const LOADED: u64 = 0x4020_0000;
pub const STAY: u64 = LOADED + 0x1000;
/// Offset in that page of what a CPU that arrives reads.
pub const ARRIVAL: u64 = 0xa00;
/// Offset in that page of EL2's vectors.
pub const EL2_VECTORS: u64 = 0x800;
pub const POOL: u64 = 0x4300_0000;
pub const TEXT_POOL: u64 = 0x4320_0000;
/// Private memory. Its first frames are those of the compartment.
pub const PRIVATE: u64 = 0x4340_0000;
/// Addresses in the compartment, and the frames there.
pub const COMPARTMENT_CODE: u64 = 0x40_0000;
pub const COMPARTMENT_DATA: u64 = 0x40_1000;
pub const COMPARTMENT_SHARED: u64 = 0x40_2000;
pub const CODE_FRAME: u64 = PRIVATE + 4 * PAGE;
pub const DATA_FRAME: u64 = PRIVATE + 5 * PAGE;
pub const CONTEXT_FRAME: u64 = PRIVATE + 6 * PAGE;
/// Four tables, of which the first is the root of a clone.
pub const CLONE: u64 = PRIVATE + 8 * PAGE;
pub const MODULE: u64 = UPPER + 130 * SLOT_SIZE;
pub const VMALLOC: u64 = UPPER + 200 * SLOT_SIZE;
pub const REGION: u64 = 0x43e0_0000;
pub const REGION_SIZE: u64 = 0x6_0000;
pub const GATE_FRAME: u64 = REGION;
/// The types of frames, two bytes each.
pub const FRAME_TABLE: u64 = REGION + 0x1_0000;
/// The boot stage's description.
pub const INFO: u64 = FRAME_TABLE + RAM_SIZE / PAGE * 2;
/// The lower half of a CPU that arrives.
pub const LOWER: u64 = REGION + REGION_SIZE - PAGE;
/// The trees of ASIDs, a page of them.
pub const TREES: u64 = INFO + PAGE;
/// What the tables of users are made of.
pub const ARENA: u64 = REGION + 0x4_0000;
/// Who has which private frame, four bytes for each frame of RAM.
pub const PRIVATE_WORDS: u64 = REGION + 0x2_0000;
/// Roots of compartments, a page of them.
pub const COMPARTMENT_ROOTS: u64 = PRIVATE_WORDS + RAM_SIZE / PAGE * 4;
/// Where the inner domain takes such a CPU over.
pub const ENTRY: u64 = TEXT_WINDOW + 0x100;
pub const UART: u64 = 0x0900_0000;
pub const FW_CFG: u64 = 0x0902_0000;
/// A page of an interrupt controller and of a mailbox.
pub const MAILBOX: u64 = 0x0903_0000;
/// An ordinary frame that a process has.
pub const FRAME: u64 = 0x4200_0000;
pub const MEBIBYTES_2: u64 = 2 << 20;

const _: () = assert!((PHYSICAL + BLOCK).is_multiple_of(TABLE_BLOCK_SIZE));
