// SPDX-License-Identifier: MIT OR Apache-2.0
//! Storage for shadows and their frame table.

use std::sync::atomic::{AtomicU16, AtomicU32};

use donjon_core::checks::Checks;
use donjon_core::range::Range;
use donjon_core::translation::frames::{FrameTable, FrameType};
use donjon_core::user_tables::{ASIDS, Cell, LEAST_PAGES, Storage, UserTables};

use super::PAGE;

/// Memory for the smallest arena and the types of some frames.
pub struct OwnedStorage {
    frames: Vec<AtomicU16>,
    cells: Vec<Cell>,
    asids: Vec<AtomicU32>,
}

impl OwnedStorage {
    /// Makes storage for `frames` frames, each ordinary.
    pub fn new(frames: u64) -> Self {
        Self {
            frames: (0..frames).map(|_| AtomicU16::new(0)).collect(),
            cells: (0..LEAST_PAGES).map(|_| Cell::new()).collect(),
            asids: (0..ASIDS).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// The types of the frames from physical address `start` on.
    pub fn frames(&self, start: u64) -> FrameTable<'_> {
        FrameTable::new(start, &self.frames)
    }

    /// UserTables whose arena begins at physical address `arena`.
    pub fn user_tables(&self, arena: u64, reserved_root: u64) -> UserTables<'_> {
        self.shadows_with(arena, reserved_root)
    }

    /// UserTables whose arena begins at physical address `arena`, with a choice of checks.
    pub fn shadows_with<C: Checks>(&self, arena: u64, reserved_root: u64) -> UserTables<'_, C> {
        let storage = Storage {
            arena: Range::new(arena, arena + LEAST_PAGES * PAGE).expect("not empty"),
            cells: &self.cells,
            asids: &self.asids,
        };
        UserTables::with_checks(storage, reserved_root).expect("fits")
    }
}

/// Changes the types of all frames that begin in `range`, which begins with one.
pub fn set_types(frames: &FrameTable<'_>, range: Range, kind: FrameType) {
    for frame in (range.start()..range.end()).step_by(PAGE as usize) {
        frames.set(frame, kind);
    }
}
