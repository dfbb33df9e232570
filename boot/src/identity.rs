// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boot stage's identity map: 512 blocks of 1 GiB, and beside it the same for devices alone.

use core::arch::asm;

use donjon_core::placement::Range;

use crate::assembly::{DEVICE_BLOCK, NORMAL_BLOCK, TABLE, boot_table_l0, boot_table_l1};

const GIB: u64 = 1 << 30;
/// Where everything is seen as device memory: the second 512 GiB. A GiB that holds both RAM and
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

/// Makes the blocks that hold RAM normal memory. Until then only the image's own is.
///
/// # Safety
///
/// `banks` is RAM and nothing is running on the memory as device memory.
pub unsafe fn cover(banks: &[Range]) {
    for bank in banks {
        for block in bank.start() / GIB..=(bank.end() - 1) / GIB {
            // SAFETY: the table is a static that only this CPU's walks read; the index is below
            // 512 because RAM ends below 512 GiB. The entry goes through invalid, because its
            // memory type changes (break-before-make, D8.17.1).
            unsafe {
                let entry = (&raw mut boot_table_l1).cast::<u64>().add(block as usize);
                let value = (block * GIB) | NORMAL_BLOCK;
                if entry.read_volatile() == value {
                    continue;
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
    }
}
