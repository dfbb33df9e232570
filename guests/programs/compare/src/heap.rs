// SPDX-License-Identifier: MIT OR Apache-2.0
//! The heap as one block of memory.

use core::ptr;
use core::slice;

use donjon_loops::PAGE;
use donjon_runtime::HEAP;

/// Adds pages until the heap has `wanted`, and touches each; returns how many there are.
pub fn grow(wanted: u64) -> u64 {
    let (_, mut all) = donjon_runtime::grow(0);
    while all < wanted {
        let (added, now) = donjon_runtime::grow(wanted - all);
        all = now;
        if added == 0 {
            break;
        }
    }
    donjon_loops::touch(words());
    all
}

/// Writes all of it.
pub fn write(seed: u64) -> u64 {
    donjon_loops::write(words(), seed);
    0
}

/// Reads all of it.
pub fn read() -> u64 {
    donjon_loops::read(words())
}

/// Gives all of it back; how many pages are left.
pub fn shrink() -> u64 {
    let (_, mut left) = donjon_runtime::grow(0);
    while left > 0 {
        // SAFETY: nothing refers to the heap; this program has no allocator.
        let (removed, now) = unsafe { donjon_runtime::shrink(left) };
        left = now;
        if removed == 0 {
            break;
        }
    }
    left
}

/// The words of the whole heap.
fn words<'a>() -> &'a mut [u64] {
    let (_, pages) = donjon_runtime::grow(0);
    let start = ptr::with_exposed_provenance_mut(HEAP as usize);
    // SAFETY: the heap has so many pages of zeros or of words that were written before, nothing
    // else refers to them, and each caller is done with them before the heap changes.
    unsafe { slice::from_raw_parts_mut(start, pages as usize * PAGE / 8) }
}
