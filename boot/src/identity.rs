// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boot stage's identity map: 512 blocks of 1 GiB.

use core::arch::asm;

use donjon_core::placement::Range;

use crate::assembly::{NORMAL_BLOCK, boot_table_l1};

const GIB: u64 = 1 << 30;

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
