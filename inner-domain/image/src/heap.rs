// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inner domain's heap.

use donjon_hal::heap::StaticHeap;

/// 128 KiB of the inner domain's data.
#[global_allocator]
pub static HEAP: StaticHeap<{ 128 << 10 }> = StaticHeap::new();
