// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists that are read again after they were checked: what a test build without the check `LIST`
//! writes.
#![cfg(feature = "checks-by-word")]

use donjon_abi::call::TableEntry;
use donjon_core::translation::frames::FrameTable;
use donjon_core::translation::{Hardware, Step};
use donjon_hal::steps::Executor;

use super::list;

/// Writes what stands in a list after an item was checked. It waits for a change of the item,
/// because an emulator may run CPUs in turns, and then few changes come directly after the check.
pub fn write_changed(frames: &FrameTable<'_>, address: u64, index: u64, checked: TableEntry) {
    const READS: usize = 2_000;
    let address = address + index * size_of::<TableEntry>() as u64;
    let changed = (0..READS)
        .filter_map(|_| list::<TableEntry>(frames, address, 1, 1).ok()?.next())
        .find(|it| (it.entry, it.value) != (checked.entry, checked.value));
    if let Some(TableEntry { entry, value }) = changed {
        Executor.perform(Step::Write { entry, value });
    }
}
