// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pages that a compartment shares with its host. The host can change them at any time, so they
//! are copied from and to, and nothing refers to them.

use core::ptr;

use donjon_compartment_protocol::SHARED;

use crate::memory::PAGE;

unsafe extern "C" {
    /// Of `entry!`.
    safe static donjon_shared_pages: u64;
}

/// How many bytes are shared.
pub fn size() -> usize {
    (donjon_shared_pages * PAGE) as usize
}

/// Copies bytes to the beginning of the shared pages; how many, as many as there is room for.
pub fn write(from: &[u8]) -> usize {
    let to = ptr::with_exposed_provenance_mut::<u8>(SHARED as usize);
    let count = from.len().min(size());
    for (index, byte) in from[..count].iter().enumerate() {
        // SAFETY: within the shared pages, which are writable and to which nothing refers.
        unsafe { to.add(index).write_volatile(*byte) };
    }
    count
}

/// Copies bytes from the beginning of the shared pages; how many, as many as there are.
pub fn read(to: &mut [u8]) -> usize {
    let from = ptr::with_exposed_provenance::<u8>(SHARED as usize);
    let count = to.len().min(size());
    for (index, byte) in to[..count].iter_mut().enumerate() {
        // SAFETY: within the shared pages, which are readable; any value is a byte.
        *byte = unsafe { from.add(index).read_volatile() };
    }
    count
}
