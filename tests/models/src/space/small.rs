// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine of 16 MiB with one frame of each type, in the state after the hand-over.

use std::sync::atomic::{AtomicU16, AtomicU32};

use donjon_abi::boot_info::{Bank, MAX_MEDIATED, MAX_READABLE, Mediated};
use donjon_core::checks::Checks;
use donjon_core::devices::DeviceList;
use donjon_core::kernel_tables::{PoolFrame, PoolKind};
use donjon_core::memory::private::{Private, PrivateBlock};
use donjon_core::pools::{Pools, Storage};
use donjon_core::range::Range;
use donjon_core::translation::frames::{FrameTable, FrameType};

use super::memory::{PAGE, SmallMachine};

/// Bytes of a block.
pub const BLOCK: u64 = 2 << 20;
/// First byte of RAM.
pub const RAM: u64 = 0x4000_0000;
/// Blocks of RAM: the kernel's, a pool of tables, a pool of text, ordinary memory.
pub const BLOCKS: u64 = 8;
/// First byte of the pool of tables.
pub const POOL: u64 = RAM + BLOCK;
/// First byte of the pool of text.
pub const TEXT_POOL: u64 = RAM + 2 * BLOCK;
/// First byte of the blocks that are ordinary as a whole.
pub const ORDINARY: u64 = RAM + 3 * BLOCK;
/// A device that is on the list, of two pages.
pub const DEVICE: u64 = 0x900_0000;
/// Registers that the inner domain writes, in a page that may be mapped read-only.
pub const REGISTERS: u64 = DEVICE + 16 * PAGE + 0x210;
/// Where the inner domain has them.
pub const MAPPED_REGISTERS: u64 = 0xffff_8000_0000_0210;
/// The bits of them that Linux may set.
pub const REGISTER_BITS: u64 = 0x2;
/// First address of the linear map, which shows [`RAM`].
pub const LINEAR: u64 = 0xffff_8000_0000_0000;
/// First address of the kernel's image; its pages 8 and up are free for mappings.
pub const IMAGE: u64 = 0xffff_c000_0000_0000;
/// Pool frames that the kernel's own tables take.
pub const TAKEN: u64 = 5;

/// A frame of the kernel's block.
pub const fn kernel(frame: u64) -> u64 {
    RAM + frame * PAGE
}

/// The kernel's root.
pub const ROOT: u64 = kernel(0);
/// The root that maps nothing.
pub const RESERVED_ROOT: u64 = kernel(1);
/// A frame of the inner domain.
pub const INNER: u64 = kernel(2);
/// The gate.
pub const GATE: u64 = kernel(3);
/// Kernel text.
pub const TEXT: u64 = kernel(4);
/// The vectors.
pub const VECTORS: u64 = kernel(5);
/// Kernel constants.
pub const READ_ONLY: u64 = kernel(6);
/// Level 1 table of the linear map: a table without metadata.
pub const LINEAR_L1: u64 = kernel(7);
/// First ordinary frame of the block.
pub const DATA: u64 = kernel(8);
/// Ordinary frames of the block that the linear map shows, a page each.
const MAPPED: u64 = 16;

/// Level 2 table of the linear map.
pub const LINEAR_L2: u64 = POOL;
/// Level 3 table of the kernel's block in the linear map.
pub const LINEAR_L3: u64 = POOL + PAGE;
/// Level 1 table of the kernel's image.
pub const IMAGE_L1: u64 = POOL + 2 * PAGE;
/// Level 2 table of the kernel's image.
pub const IMAGE_L2: u64 = POOL + 3 * PAGE;
/// Level 3 table of the kernel's image.
pub const IMAGE_L3: u64 = POOL + 4 * PAGE;

const TABLE: u64 = 0b11;
const AP_READ_ONLY: u64 = 1 << 7;
const PXN: u64 = 1 << 53;
const UXN: u64 = 1 << 54;
/// Normal memory, inner shareable, accessed, never executable at EL0.
const NORMAL: u64 = 0b11 << 8 | 1 << 10 | UXN;

/// Descriptor of a kernel page that can be read and written.
pub const KERNEL_PAGE: u64 = TABLE | NORMAL | PXN;

/// The memory of the rules' metadata.
pub struct OwnedStorage {
    entries: Vec<AtomicU16>,
    pool: Vec<PoolFrame>,
    owners: Vec<AtomicU32>,
    blocks: Vec<PrivateBlock>,
}

impl Default for OwnedStorage {
    fn default() -> Self {
        Self::with_blocks(3)
    }
}

impl OwnedStorage {
    /// Makes storage with metadata for `blocks` blocks of tables.
    pub fn with_blocks(blocks: usize) -> Self {
        Self {
            entries: (0..BLOCKS * BLOCK / PAGE)
                .map(|_| AtomicU16::new(0))
                .collect(),
            pool: vec![PoolFrame::NEW; blocks * 512],
            owners: (0..BLOCKS * BLOCK / PAGE)
                .map(|_| AtomicU32::new(0))
                .collect(),
            blocks: vec![PrivateBlock::NEW; BLOCKS as usize + 1],
        }
    }
}

/// The machine and its rules.
pub fn build<C: Checks>(storage: &mut OwnedStorage) -> (SmallMachine, Pools<'_, C>) {
    let mut devices = DeviceList::new();
    let device = Range::with_size(DEVICE, 2 * PAGE).expect("not empty");
    devices.add(device).expect("room");
    let mut mediated = [Mediated::default(); MAX_MEDIATED];
    mediated[0] = Mediated {
        registers: Bank {
            start: REGISTERS,
            end: REGISTERS + 0x18,
        },
        mapped: MAPPED_REGISTERS,
        bits: REGISTER_BITS,
    };
    let mut readable = [Bank::default(); MAX_READABLE];
    readable[0] = Bank {
        start: REGISTERS & !(PAGE - 1),
        end: (REGISTERS & !(PAGE - 1)) + PAGE,
    };
    let devices = devices.with_mediated(readable, mediated);
    let frames = FrameTable::new(RAM, &storage.entries);
    let private = Private::new(frames, &storage.owners, &mut storage.blocks);
    let storage = Storage {
        frames,
        pool: &mut storage.pool,
        private: private.expect("enough words"),
    };
    let mut pools = Pools::with_checks(storage, devices, ROOT);
    let frames = pools.tables.frames_mut();
    for (frame, class) in [
        (ROOT, FrameType::KernelTable0),
        (RESERVED_ROOT, FrameType::TableBlock),
        (INNER, FrameType::Inner),
        (GATE, FrameType::Gate),
        (TEXT, FrameType::KernelText),
        (VECTORS, FrameType::KernelVectors),
        (READ_ONLY, FrameType::KernelReadOnly),
        (LINEAR_L1, FrameType::KernelTable1),
    ] {
        frames.set(frame, class);
    }
    pools.tables.import_linear_map(LINEAR, RAM);
    pools
        .tables
        .import_pool(POOL, PoolKind::Tables)
        .expect("ordinary");
    pools
        .tables
        .import_pool(TEXT_POOL, PoolKind::Text)
        .expect("ordinary");

    let mut machine = SmallMachine::new(ROOT);
    let mut link = |table: u64, entry: u64, va: u64| {
        machine.frames.write(entry, table | TABLE);
        if entry & !(PAGE - 1) == ROOT {
            machine.frames.write(entry + 256 * 8, table | TABLE);
        }
        if table != LINEAR_L1 {
            pools
                .tables
                .import_table(table, entry, va)
                .expect("a free frame");
        }
    };
    link(LINEAR_L1, ROOT, LINEAR);
    link(LINEAR_L2, LINEAR_L1, LINEAR);
    link(LINEAR_L3, LINEAR_L2, LINEAR);
    link(IMAGE_L1, ROOT + 128 * 8, IMAGE);
    link(IMAGE_L2, IMAGE_L1, IMAGE);
    link(IMAGE_L3, IMAGE_L2, IMAGE);

    for page in (0..MAPPED).map(kernel) {
        let class = pools.tables.frames().get(page).expect("RAM");
        let permissions = match class {
            FrameType::Inner | FrameType::Gate => continue,
            FrameType::Ordinary => 0,
            _ => AP_READ_ONLY,
        };
        let entry = LINEAR_L3 + (page - RAM) / PAGE * 8;
        machine
            .frames
            .write(entry, page | KERNEL_PAGE | permissions);
    }
    for block in 1..BLOCKS {
        let start = RAM + block * BLOCK;
        let permissions = if start < ORDINARY { AP_READ_ONLY } else { 0 };
        let descriptor = start | (KERNEL_PAGE & !0b10) | permissions;
        machine.frames.write(LINEAR_L2 + block * 8, descriptor);
    }
    let executable = TABLE | NORMAL | AP_READ_ONLY;
    let image = [
        TEXT | executable,
        VECTORS | executable,
        READ_ONLY | executable | PXN,
        DATA | KERNEL_PAGE,
    ];
    for (entry, descriptor) in (IMAGE_L3..).step_by(8).zip(image) {
        machine.frames.write(entry, descriptor);
    }
    pools.tables.finish_import(&mut machine);
    machine.expect_nothing_pending();
    (machine, pools)
}
