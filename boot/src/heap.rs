// SPDX-License-Identifier: MIT OR Apache-2.0
//! The heap of the boot stage, used for the device tree.

use donjon_hal::heap::StaticHeap;

/// 1 MiB of the boot stage's zeroed memory.
#[global_allocator]
pub static HEAP: StaticHeap<{ 1 << 20 }> = StaticHeap::new();
