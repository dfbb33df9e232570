// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inner domain's layout of the upper VA range.
//!
//! The root table has 512 entries. With the inner view's T1SZ the entry for a kernel VA is
//! `256 + k`, with the outer view's it is `k`; "slot k" means this pair. Entry `k` of an
//! inner-only slot is invalid for ever.
//!
//! ```text
//! slot 48   inner-only   the inner domain's own view of physical memory
//! slot 63   inner-only   its image, data and stacks, ending exactly at GATE
//! slot 64   shared       the gate page
//! ```
//!
//! The inner image ends where the gate page begins, so the exit write can be the last word of
//! an inner-only page with its ISB the first word of the gate page.

use crate::declare::constants;

constants! {
    /// Bytes of a page and of a table.
    pub const PAGE_SIZE: u64 = 4096;
    /// Bytes of a level 2 block.
    pub const BLOCK_SIZE: u64 = 2 << 20;
    /// Bytes that one root slot spans.
    pub const SLOT_SIZE: u64 = 1 << 39;
    /// Entries of a root half.
    pub const ROOT_HALF: usize = 256;

    /// Root slot of the inner view of physical memory.
    pub const PHYSMAP_SLOT: usize = 48;
    /// Root slot of the inner image and its data.
    pub const INNER_SLOT: usize = 63;
    /// Root slot of the gate.
    ///
    /// VA bit 46 is 0 here, which puts the gate out of range for every T1SZ above 17.
    pub const GATE_SLOT: usize = 64 => "GATE_SLOT";

    /// Inner-only: physical memory, from address 0 on.
    pub const PHYSMAP: u64 = slot(PHYSMAP_SLOT as u64) => "PHYSMAP";
    /// The gate's page. The word before it is the inner-only exit write.
    pub const GATE: u64 = slot(GATE_SLOT as u64) => "GATE_PAGE";

    /// Where a call enters.
    ///
    /// The way out begins at [`GATE`] itself.
    pub const GATE_ENTRY: u64 = GATE + 0x80 => "GATE";
    /// The write of TCR_EL1 on the way in: what an attacker jumps to.
    pub const GATE_ENTRY_WRITE: u64 = GATE_ENTRY + 5 * 4 => "GATE_ENTRY_WRITE";
    /// Where a vector that found another TCR_EL1 enters.
    pub const GATE_REPAIR: u64 = GATE + 0x180 => "GATE_REPAIR";
    /// Offset in the gate page of the list that mode `tlbi` works through on the way out: operands
    /// of TLBI by VA, and a zero behind the last. An empty list invalidates everything. The boot
    /// stage fills it in.
    pub const GATE_TLBI_LIST: usize = 0x800;
    /// Most entries of that list.
    pub const GATE_TLBI_MAX: usize = (PAGE_SIZE as usize - GATE_TLBI_LIST) / 8 - 1;

    /// Bytes of each of the windows below.
    pub const WINDOW_SIZE: u64 = BLOCK_SIZE;
    /// Inner-only: text and read-only data; ends at the gate's page.
    pub const TEXT_WINDOW: u64 = GATE - WINDOW_SIZE => "TEXT_WINDOW";
    /// Inner-only: data and heap.
    pub const DATA_WINDOW: u64 = TEXT_WINDOW - WINDOW_SIZE => "DATA_WINDOW";
    /// Window of the per-CPU stacks and CPU blocks.
    pub const STACK_WINDOW: u64 = DATA_WINDOW - WINDOW_SIZE;
    /// Inner-only: the device that the inner domain drives, the console.
    pub const DEVICE_WINDOW: u64 = STACK_WINDOW - WINDOW_SIZE => "DEVICE_WINDOW";

    /// Most CPUs that the gate can tell apart: the bound of a CPU's index.
    pub const MAX_CPUS: usize = 16 => "MAX_CPUS";
    /// VA distance between the stacks of two CPUs; a power of two.
    pub const STACK_STRIDE: u64 = 1 << STACK_STRIDE_SHIFT;
    /// log2 of the distance between the CPU blocks of two CPUs.
    pub const STACK_STRIDE_SHIFT: u32 = 15 => "STACK_STRIDE_SHIFT";
    /// Pages of one stack. Below them everything up to the next CPU block is unmapped.
    pub const STACK_PAGES: u64 = 4;
    /// Inner-only: CPU block (one page: counters, identity) of CPU index 0; the stack grows down
    /// from it.
    pub const CPU_BLOCKS: u64 = STACK_WINDOW + STACK_PAGES * PAGE_SIZE + 3 * PAGE_SIZE => "CPU_BLOCKS";

    /// Aff1 is folded onto Aff0 by this shift to give a CPU's index.
    pub const CPU_INDEX_SHIFT: u32 = 6 => "CPU_INDEX_SHIFT";

    /// Bytes and alignment of the table block.
    ///
    /// It holds the root table and the upper tables of gate and linear map (see `docs/design.md`,
    /// forged geometry).
    pub const TABLE_BLOCK_SIZE: u64 = 64 << 10 => "TABLE_BLOCK_SIZE";
    /// Page of the table block: level 1 table of the gate.
    pub const GATE_L1_PAGE: u64 = 1;
    /// Page of the table block: level 2 table of the gate.
    pub const GATE_L2_PAGE: u64 = 2;
    /// Page of the table block: level 3 table of the gate.
    pub const GATE_L3_PAGE: u64 = 3;
    /// Page of the table block: the root table, swapper_pg_dir.
    pub const ROOT_PAGE: u64 = 8 => "ROOT_PAGE";
    /// Page of the table block: level 1 table of the first slot of Linux's linear map.
    pub const LINEAR_L1_PAGE: u64 = 13 => "LINEAR_L1_PAGE";

    /// Slots from here on are never linked by Linux's vmalloc. Walks with a forged granule (64 KiB,
    /// 52-bit range) read root entries 232 and 240 for the gate and the vectors.
    pub const VMALLOC_END_SLOT: usize = 232;

    /// Physical memory ends below this, so that the linear map stays in slot 0 and the physical
    /// view in one slot.
    pub const PHYSICAL_END: u64 = SLOT_SIZE;

    /// Where Linux's vmalloc range ends: before root entries 232 and 240.
    pub const VMALLOC_END: u64 = slot(VMALLOC_END_SLOT as u64) => "VMALLOC_END";
}

const fn slot(k: u64) -> u64 {
    0xffff_8000_0000_0000 + k * SLOT_SIZE
}

/// What the gate makes of MPIDR_EL1: an index below [`MAX_CPUS`].
///
/// Aff0 and four times Aff1, folded: right for up to 16 CPUs in one cluster and for clusters of
/// four. The boot stage refuses a machine on which two CPUs share an index.
pub const fn cpu_index(mpidr: u64) -> usize {
    ((mpidr | (mpidr >> CPU_INDEX_SHIFT)) & (MAX_CPUS as u64 - 1)) as usize
}

const _: () = {
    assert!(GATE == 0xffff_a000_0000_0000);
    assert!(GATE & (1 << 46) == 0);
    assert!(
        CPU_BLOCKS + MAX_CPUS as u64 * STACK_STRIDE <= STACK_WINDOW + WINDOW_SIZE + STACK_STRIDE
    );
};
