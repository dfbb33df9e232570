// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boot stage's identity map: memory and, elsewhere, devices; and beside it the same for
//! devices alone.

use core::arch::asm;
use core::sync::atomic::{AtomicUsize, Ordering};

use donjon_abi::boot_info::MAX_BANKS;
use donjon_abi::layout::BLOCK_SIZE;
use donjon_core::range::Range;

use crate::assembly::{DEVICE_BLOCK, NORMAL_BLOCK, TABLE, boot_table_l0, boot_table_l1};
use crate::failure::Failure;

const GIB: u64 = 1 << 30;
/// The address in an entry that names a table.
const ADDRESS: u64 = 0xffff_ffff_f000;
/// Where everything is seen as device memory: the second 512 GiB. A block that holds both RAM and
/// devices is memory in the first.
const DEVICE_VIEW: u64 = 512 * GIB;

#[repr(align(4096))]
#[allow(dead_code, reason = "written through raw pointers, read by walks")]
struct Table([u64; 512]);

static mut DEVICE_TABLE: Table = Table([0; 512]);

/// Makes the view of devices.
///
/// # Safety
///
/// Called once.
pub unsafe fn map_devices() {
    // SAFETY: the table is a static that nothing else writes and nothing walks before the last
    // store, to an entry that was invalid.
    unsafe {
        let table = (&raw mut DEVICE_TABLE).cast::<u64>();
        for block in 0..512 {
            let entry = (block * GIB) | DEVICE_BLOCK;
            table.add(block as usize).write_volatile(entry);
        }
        asm!("dsb ish", options(nostack));
        let root = (&raw mut boot_table_l0).cast::<u64>();
        root.add(1).write_volatile(table as u64 | TABLE);
        asm!("dsb ish", "isb", options(nostack));
    }
}

/// Where a physical address is seen as device memory.
pub const fn device(physical: u64) -> Option<u64> {
    if physical < DEVICE_VIEW {
        Some(DEVICE_VIEW + physical)
    } else {
        None
    }
}

/// Makes what holds RAM normal memory: whole GiB, and blocks of 2 MiB in a GiB that holds registers
/// or nothing as well. Until then only the image and the device tree are.
///
/// An entry changes through invalid, because the memory type or the size of a block changes
/// (break-before-make, DDI 0487, D8.17.1). Meanwhile nothing uses what it maps: code, stack, heap
/// and tables of the boot stage are in the image, whose blocks stay as they are.
///
/// # Safety
///
/// `banks` is RAM and nothing is running on the memory as device memory.
pub unsafe fn cover(banks: &[Range]) -> Result<(), Failure> {
    for bank in banks {
        for gib in bank.start() / GIB..=(bank.end() - 1) / GIB {
            let start = bank.start().max(gib * GIB);
            let end = bank.end().min((gib + 1) * GIB);
            // SAFETY: the bank is RAM in which nothing is used as device memory, and the range is
            // in this GiB; the index is below 512, because RAM ends below 512 GiB.
            unsafe { cover_in(gib, start, end) }?;
        }
    }
    Ok(())
}

/// Covers RAM from `start` up to `end`, which is in one GiB.
///
/// # Safety
///
/// The range is RAM, and nothing is running on it as device memory.
unsafe fn cover_in(gib: u64, start: u64, end: u64) -> Result<(), Failure> {
    // SAFETY: tables are statics, which only this CPU's walks read; all indices are below 512.
    unsafe {
        let entry = (&raw mut boot_table_l1).cast::<u64>().add(gib as usize);
        let is_table = entry.read_volatile() & TABLE == TABLE;
        let memory = (gib * GIB) | NORMAL_BLOCK;
        // The device tree, or the end of an image that two GiB share, may be in use there.
        let is_memory = entry.read_volatile() == memory;
        if !is_table && (is_memory || end - start == GIB) {
            replace(entry, memory);
            return Ok(());
        }
        let table = if is_table {
            (entry.read_volatile() & ADDRESS) as *mut u64
        } else {
            let table = take_table().ok_or(Failure::Address(start))?;
            for block in 0..512 {
                let value = (gib * GIB + block * BLOCK_SIZE) | DEVICE_BLOCK;
                table.add(block as usize).write_volatile(value);
            }
            replace(entry, table as u64 | TABLE);
            table
        };
        for block in start / BLOCK_SIZE..=(end - 1) / BLOCK_SIZE {
            let value = (block * BLOCK_SIZE) | NORMAL_BLOCK;
            replace(table.add(block as usize % 512), value);
        }
    }
    Ok(())
}

/// Gives an entry another value, unless it has it.
///
/// # Safety
///
/// The entry is one of the identity map's, and nothing uses what it maps now.
unsafe fn replace(entry: *mut u64, value: u64) {
    // SAFETY: the entry is one of the identity map's, and nothing uses what it maps while it is
    // invalid.
    unsafe {
        if entry.read_volatile() == value {
            return;
        }
        entry.write_volatile(0);
        asm!(
            "dsb ish",
            "tlbi vmalle1",
            "dsb ish",
            "isb",
            options(nostack)
        );
        entry.write_volatile(value);
        asm!("dsb ish", "isb", options(nostack));
    }
}

/// A table that is not used yet: a bank has at most two ends within a GiB.
fn take_table() -> Option<*mut u64> {
    static mut TABLES: [Table; 2 * MAX_BANKS] = [const { Table([0; 512]) }; 2 * MAX_BANKS];
    static USED: AtomicUsize = AtomicUsize::new(0);
    let index = USED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: each index is given out once.
    (index < 2 * MAX_BANKS).then(|| unsafe { (&raw mut TABLES).cast::<u64>().add(index * 512) })
}
