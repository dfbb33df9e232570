// SPDX-License-Identifier: MIT OR Apache-2.0
//! The heap, in pages.

use donjon_abi::call::{Pages, requests};

use crate::request::ask;

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// Where the heap begins.
pub const HEAP: u64 = 1 << 38;

/// Adds pages of zeros at the end of the heap: how many were added, and how many there are. Fewer
/// are added at the limit, and in one request.
pub fn grow(pages: u64) -> (u64, u64) {
    // SAFETY: new pages are mapped where there was nothing.
    let it = unsafe { ask::<requests::Grow>(&Pages { pages }) };
    (it.pages, it.all)
}

/// Takes pages away at the end of the heap, wiped: how many, and how many are left.
///
/// # Safety
///
/// Nothing refers to these pages. With the feature `alloc`, all pages that the allocator asked for
/// are its own.
pub unsafe fn shrink(pages: u64) -> (u64, u64) {
    // SAFETY: nothing refers to the pages that the request takes away.
    let it = unsafe { ask::<requests::Shrink>(&Pages { pages }) };
    (it.pages, it.all)
}
