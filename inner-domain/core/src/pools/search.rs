// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search for mappings of claimed blocks in the kernel's tables.

use donjon_abi::call::Reason;

use super::phase::{Extension, Phase, Progress};
use super::state::Pools;
use crate::checks::Checks;
use crate::translation::address::{ENTRIES, Level};
use crate::translation::frames::FrameType;
use crate::translation::{EntryAddress, FrameAddress, Hardware, bits};

/// Entries after which a slice ends, of at most five instructions each: 2,560 instructions. The
/// table that it ends in may take 11,800 more, where each entry needs a closer look, and the
/// entries of the linear map that show 32 claimed blocks 4,700, for the search of the list.
/// Together they are 19,100.
const ENTRIES_PER_SLICE: usize = ENTRIES;
/// What looking at a frame that is not skipped and no leaf table costs, in entries: 70
/// instructions.
const FRAME_COST: usize = 14;
/// How many frames of a pool without leaf tables are skipped for what an entry costs: 20
/// instructions for eight.
const SKIPPED_FOR_ENTRY: usize = 2;
/// What a number without a block costs, in entries.
const VACANT_COST: usize = 4;
/// What a closer look at an entry costs, in entries.
const CLOSE_LOOK_COST: usize = 4;

impl<C: Checks> Pools<'_, C> {
    /// Looks for mappings of the blocks. Frames that were searched stay clean: no call maps a
    /// claimed frame.
    pub(super) fn search<H: Hardware>(
        &mut self,
        hw: &mut H,
        extension: Extension,
        from: usize,
    ) -> Result<Progress, Reason> {
        let mut index = from;
        let mut cost = 0;
        while index < self.tables.pool.len() {
            if cost >= ENTRIES_PER_SLICE {
                self.proceed(extension, Phase::Search(index));
                return Ok(Progress::Again);
            }
            let Some(table) = self.tables.blocks.frame(index) else {
                index = (index / ENTRIES + 1) * ENTRIES;
                cost += VACANT_COST;
                continue;
            };
            let left_in_block = ENTRIES - index % ENTRIES;
            let skipped = self
                .tables
                .frames
                .without_leaf_table(table.as_u64(), left_in_block);
            if skipped != 0 {
                cost += skipped / SKIPPED_FOR_ENTRY;
                index += skipped;
                continue;
            }
            let level = match self.tables.frames.get(table.as_u64()) {
                Some(FrameType::KernelTable3) => Some(Level::Three),
                Some(FrameType::KernelTable2) => Some(Level::Two),
                _ => None,
            };
            if let Some(level) = level {
                match self.inspect(hw, table, level) {
                    Some(close) => cost += ENTRIES + close * CLOSE_LOOK_COST,
                    None => return Ok(self.give_up(extension)),
                }
            }
            cost += FRAME_COST;
            index += 1;
        }
        if index != from {
            // What follows takes a slice of its own.
            self.proceed(extension, Phase::Search(index));
            return Ok(Progress::Again);
        }
        self.close(hw, extension)
    }

    /// Looks for mappings of claimed blocks in a table. The entries of the linear map that show
    /// them do not count. None if there is a mapping; otherwise how many entries needed a closer
    /// look. Four entries at a time: one by one takes three times as many instructions.
    fn inspect<H: Hardware>(&self, hw: &H, table: FrameAddress, level: Level) -> Option<usize> {
        let (value, mask) = self.claims.blocks().cover();
        let mask = mask & bits::OUTPUT_ADDRESS;
        let may_show = |descriptor: u64| descriptor & mask == value;
        let shows = |entry: EntryAddress, descriptor: u64| {
            let output = descriptor & bits::OUTPUT_ADDRESS;
            may_show(descriptor)
                && bits::is_valid(descriptor)
                && (level == Level::Three || bits::is_block(descriptor))
                // Before the list, whose search takes longer: all claimed frames are in it.
                && self.tables.frames.get(output) == Some(FrameType::Claimed)
                && self
                    .claims
                    .find(output)
                    .is_some_and(|it| it.entry != entry)
        };
        let end = table.end();
        let mut entry = table.entry(0);
        let mut close = 0;
        while entry < end {
            let [a, b] = hw.read_two(entry.as_u64());
            let [c, d] = hw.read_two(entry.after(2).as_u64());
            // Nearly all of them end here.
            if may_show(a) | may_show(b) | may_show(c) | may_show(d) {
                if shows(entry, a)
                    || shows(entry.after(1), b)
                    || shows(entry.after(2), c)
                    || shows(entry.after(3), d)
                {
                    return None;
                }
                close += 4;
            }
            entry = entry.after(4);
        }
        Some(close)
    }
}
