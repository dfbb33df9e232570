// SPDX-License-Identifier: MIT OR Apache-2.0
//! The heap, in pages.

use core::arch::asm;

use donjon_abi::call::Supervisor;

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// Where the heap begins.
pub const HEAP: u64 = 1 << 38;

/// Adds pages of zeros at the end of the heap: how many were added, and how many there are. Fewer are
/// added at the limit, and in one request.
pub fn grow(pages: u64) -> (u64, u64) {
    let (moved, all);
    // SAFETY: new pages are mapped where there was nothing; no other register changes.
    unsafe {
        asm!(
            "svc {number}",
            number = const Supervisor::Grow as u64,
            inlateout("x0") pages => moved,
            lateout("x1") all,
            options(nostack, preserves_flags),
        );
    }
    (moved, all)
}

/// Takes pages away at the end of the heap, wiped: how many, and how many are left.
///
/// # Safety
///
/// Nothing refers to these pages. With the feature `alloc`, all pages that the allocator asked for
/// are its own.
pub unsafe fn shrink(pages: u64) -> (u64, u64) {
    let (moved, all);
    // SAFETY: the caller's; no other register changes.
    unsafe {
        asm!(
            "svc {number}",
            number = const Supervisor::Shrink as u64,
            inlateout("x0") pages => moved,
            lateout("x1") all,
            options(nostack, preserves_flags),
        );
    }
    (moved, all)
}
