// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boot stage's heap, for the device tree.

use donjon_hal::heap::StaticHeap;

/// 1 MiB of the boot stage's zeroed memory.
#[global_allocator]
pub static HEAP: StaticHeap<{ 1 << 20 }> = StaticHeap::new();
