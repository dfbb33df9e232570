// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generates random arguments for the calls.

use donjon_abi::call::Process;
use donjon_abi::tcr::LAST_RESERVED_ASID;
use donjon_core::checks::Checks;

use super::super::{BLOCK, PAGE};
use super::{
    ARENA, ASIDS_USED, MAPPED, MAPPED_BLOCKS, Outer, PROCESSES, READ_ONLY, SOURCE_PAGES, SOURCES,
    USER,
};

impl<C: Checks> Outer<'_, C> {
    pub(super) fn who(&mut self) -> Process {
        // One in ASIDS_USED is the inner domain's.
        let asid = u64::from(LAST_RESERVED_ASID) + self.random.below(ASIDS_USED);
        // Mostly each process keeps its ASID.
        let id = if self.random.once_in(16) {
            1 + self.random.below(PROCESSES)
        } else {
            asid
        };
        Process::new(asid as u16, id)
    }

    /// An address, at which few tables or many are needed.
    pub(super) fn va(&mut self) -> u64 {
        let few = self.random.below(6) * BLOCK + self.random.below(512) * PAGE;
        if self.greedy {
            return self.random.below(2000) << 30 | few;
        }
        match self.random.below(4) {
            0 => self.random.below(1 << 36) * PAGE,
            1 => self.random.below(64) << 30 | few,
            _ => few,
        }
    }

    pub(super) fn descriptor(&mut self) -> u64 {
        let frame = MAPPED + self.random.below(MAPPED_BLOCKS * 512) * PAGE;
        let mut value = match self.random.below(24) {
            0 => 0,
            1 => self.random.any(),
            // Where no memory is, or the inner domain's.
            2 => USER | ARENA,
            3 => USER | 0x1000,
            // Global, executable at EL1, with other attributes.
            4 => (USER | frame) & !(1 << 11),
            5 => (USER | frame) & !(1 << 53),
            6 => (USER | frame) & !(7 << 2) | self.random.below(8) << 2,
            7 => self.random.any() & !1,
            _ => USER | frame,
        };
        if self.random.once_in(2) {
            value |= READ_ONLY;
        }
        if self.random.once_in(4) {
            value |= 1 << 51 | 1 << 55 | 1 << 52;
        }
        if self.random.once_in(8) {
            value |= 1 << 54;
        }
        value
    }

    pub(super) fn source(&mut self) -> u64 {
        match self.random.below(40) {
            0 => ARENA,
            1 => MAPPED + self.random.below(MAPPED_BLOCKS * 512) * PAGE,
            2 => 0x1000,
            _ => SOURCES + self.random.below(SOURCE_PAGES) * PAGE,
        }
    }
}
