// SPDX-License-Identifier: MIT OR Apache-2.0
//! One-time initialisation, called by the boot stage.

extern crate alloc;

use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

use alloc::vec;
use alloc::vec::Vec;

use donjon_abi::boot_info::{Bank, BootInfo, Conduit};
use donjon_abi::layout::cpu_index;
use donjon_abi::manifest::SwitchMode;
use donjon_core::compartment::{Compartments, Slot};
use donjon_core::cpu::cpus::CpuSet;
use donjon_core::devices::DeviceList;
use donjon_core::kernel_tables::PoolFrame;
use donjon_core::memory::outer_range::OuterMemory;
use donjon_core::memory::private::{Private, PrivateBlock};
use donjon_core::pools::{Pools, Storage};
use donjon_core::range::Range;
use donjon_core::translation::frames::FrameTable;
use donjon_core::user_tables::{Cell, Storage as StorageOfUserTables, UserTables};
use donjon_hal::{cpu, physical, registers, steps};

use crate::checks::{self, Checks, Configured};
use crate::state::{self, MachineInfo};
use crate::usb::Usb;
use crate::{
    attestation, compartments, domain, gate, heap, logger, parked, secondary_entry, user_tables,
};

/// Called by the boot stage with the inner view live, on the boot stage's stack.
///
/// # Safety
///
/// Called once, with a filled-in `BootInfo` that is mapped, and with the windows of
/// `donjon_abi::layout` mapped as they say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn donjon_inner_init(boot: *const BootInfo) -> u64 {
    checks::choose();
    // SAFETY: the boot stage filled it in and calls this once.
    let boot = unsafe {
        heap::HEAP.init();
        *boot
    };
    logger::init(&boot);

    let Some(machine) = machine(boot) else {
        panic!("the boot stage described an impossible machine: {boot:x?}");
    };
    let machine = state::set(machine);
    registers::close_extensions();
    // SAFETY: the boot stage took this memory for these tables, and this runs once.
    let Some(mut pools) = (unsafe { pools(machine) }) else {
        panic!("the boot stage left no memory for the metadata");
    };
    // SAFETY: the boot stage took this memory for user tables, and this runs once.
    let Some(user_tables) = (unsafe { user_tables(machine) }) else {
        panic!("the boot stage left too little memory for user tables");
    };
    user_tables::set(user_tables, *pools.tables.frames());
    // SAFETY: the boot stage took this memory for compartments, and this runs once.
    compartments::set(unsafe { compartments(machine) }, pools.private().1.view());
    // SAFETY: the boot stage's own page for them, and this runs once.
    unsafe { attestation::take(&machine.boot) };
    // SAFETY: the boot stage mapped the controller for good, and this runs once.
    let usb = unsafe { Usb::new(&machine.boot) };
    domain::set(pools, usb, cpu_index(cpu::mpidr()));
    log::info!(
        "inner domain {} runs, switch {}, {} CPUs, memory {:#x}-{:#x}",
        env!("CARGO_PKG_VERSION"),
        gate::SWITCH_MODE.name(),
        machine.cpus.count(),
        machine.boot.region.start,
        machine.boot.region.end - 1
    );
    if steps::consider_core() {
        log::info!("TLB invalidations are made twice");
    }
    let left_out = gate::left_out();
    if left_out != 0 {
        log::warn!("this build leaves out checks on purpose: {left_out:#x}");
    }
    parked::take_over(machine);
    logger::leave_console();
    secondary_entry::entry()
}

/// The kernel's tables and the pools, with every frame of ours typed and the rest ordinary.
///
/// # Safety
///
/// Called once, with the boot stage's description of memory that it zeroed for this.
unsafe fn pools(machine: &MachineInfo) -> Option<Pools<'static>> {
    let boot = &machine.boot;
    let start = boot.banks.iter().filter(|bank| bank.start < bank.end);
    let start = start.map(|bank| bank.start).min()?;
    let entries = |bank: &Bank, size: usize| (bank.end - bank.start) as usize / size;
    let count = entries(&boot.frame_table, size_of::<u16>());
    // SAFETY: zeroed inner memory that is given out once; zeros are valid types (ordinary).
    let frames = unsafe { physical::table::<AtomicU16>(boot.frame_table.start, count) };
    let count = entries(&boot.pool_table, size_of::<PoolFrame>());
    // SAFETY: zeroed inner memory that is given out once; every field of a pool frame is a number
    // or a flag, for which zeros are valid.
    let pool = unsafe { physical::table::<PoolFrame>(boot.pool_table.start, count) };
    pool.fill(PoolFrame::NEW);
    let frames = FrameTable::new(start, frames);
    // SAFETY: zeroed inner memory that is given out once; zeros are valid (no owner), and each
    // block becomes a new one before it is read.
    let private = unsafe {
        let count = entries(&boot.private_words, size_of::<AtomicU32>());
        let words = physical::table::<AtomicU32>(boot.private_words.start, count);
        let count = entries(&boot.private_blocks, size_of::<PrivateBlock>());
        let blocks = physical::table::<PrivateBlock>(boot.private_blocks.start, count);
        blocks.fill(PrivateBlock::NEW);
        Private::new(frames, words, blocks)?
    };
    let storage = Storage {
        frames,
        pool,
        private,
    };
    let devices = DeviceList::from_banks(&boot.devices).ok()?;
    let devices = devices.without_memory(&machine.banks).ok()?;
    let devices = devices.with_mediated(boot.readable, boot.mediated);
    let mut pools = Pools::new(storage, devices, boot.root);
    if let Some(reserve) = Range::new(boot.reserve.start, boot.reserve.end) {
        pools.tables.set_reserve(reserve);
    }
    Some(pools)
}

/// The trees of user tables, none so far.
///
/// # Safety
///
/// Called once, with the boot stage's description of memory that it zeroed for this.
unsafe fn user_tables(machine: &MachineInfo) -> Option<UserTables<'static>> {
    let boot = &machine.boot;
    let entries = |bank: &Bank, size: usize| (bank.end - bank.start) as usize / size;
    let count = entries(&boot.user_cells, size_of::<Cell>());
    // SAFETY: zeroed inner memory that is given out once; a cell is made of atomic words and a lock
    // of one, for which zeros are valid: each becomes a new one before it is read.
    let cells = unsafe { physical::table::<Cell>(boot.user_cells.start, count) };
    cells.fill_with(Cell::new);
    // SAFETY: zeroed inner memory that is given out once; zeros are valid: no tree.
    let asids = unsafe {
        let count = entries(&boot.user_trees, size_of::<AtomicU32>());
        physical::table::<AtomicU32>(boot.user_trees.start, count)
    };
    let storage = StorageOfUserTables {
        arena: Range::new(boot.user_arena.start, boot.user_arena.end)?,
        cells,
        asids,
    };
    UserTables::new(storage, boot.reserved_root)
}

/// Compartments, none so far.
///
/// # Safety
///
/// Called once, with the boot stage's description of memory that it zeroed for this.
unsafe fn compartments(machine: &MachineInfo) -> Compartments<'static> {
    let bank = &machine.boot.compartments;
    let count = (bank.end - bank.start) as usize / size_of::<Slot>();
    // SAFETY: zeroed inner memory that is given out once; each slot becomes a new one before it is
    // read.
    let slots = unsafe { physical::table::<Slot>(bank.start, count) };
    slots.fill_with(Slot::new);
    let roots = &machine.boot.compartment_roots;
    // SAFETY: zeroed inner memory that is given out once; zeros are valid: no root.
    let roots = unsafe { physical::table::<AtomicU64>(roots.start, count) };
    Compartments::new(slots, roots)
}

fn machine(boot: BootInfo) -> Option<MachineInfo> {
    if SwitchMode::from_number(boot.switch_mode) != Some(gate::SWITCH_MODE) {
        return None;
    }
    let range = |bank: &Bank| Range::new(bank.start, bank.end);
    let region = range(&boot.region)?;
    let banks: Vec<Range> = boot
        .banks
        .iter()
        .filter_map(|bank| Range::new(bank.start, bank.end))
        .collect();
    let mut withheld = vec![region, range(&boot.stays)?, range(&boot.table_block)?];
    let reserved: Vec<Range> = boot.reserved.iter().filter_map(range).collect();
    if Configured::RESERVED.is_made() {
        withheld.extend(&reserved);
    }
    let outer = OuterMemory::new(&banks, &withheld).ok()?;
    let count = usize::try_from(boot.cpu_count).ok()?;
    let cpus = CpuSet::new(boot.mpidrs.get(..count)?.iter().copied()).ok()?;
    Some(MachineInfo {
        boot,
        banks,
        reserved,
        outer,
        cpus,
        conduit: Conduit::from_word(boot.conduit),
    })
}
