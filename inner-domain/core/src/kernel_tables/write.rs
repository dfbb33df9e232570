// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes of entries: from an address that the outer domain names to the rule for its level.

use donjon_abi::call::Reason;

use super::state::KernelTables;
use super::table::LinkedEntry;
use crate::checks::{Checks, Configured};
use crate::translation::frames::FrameType;
use crate::translation::{EntryAddress, Hardware, RawDescriptor, leaf};

impl<C: Checks> KernelTables<'_, C> {
    /// Replaces the entry at physical address `entry`; returns what stood there.
    ///
    /// # Errors
    ///
    /// A [`Reason`] when a rule forbids it; nothing has changed then.
    pub fn write<H: Hardware>(
        &mut self,
        hw: &mut H,
        entry: u64,
        value: u64,
    ) -> Result<u64, Reason> {
        self.charge(1);
        let entry = EntryAddress::new(entry).ok_or(Reason::BadEntry)?;
        let value = RawDescriptor(value);
        let old = if entry.table() == self.root {
            self.write_root(hw, entry, value)
        } else {
            self.write_below_root(hw, entry, value)
        };
        old.map(|old| old.0)
    }

    fn write_below_root<H: Hardware>(
        &mut self,
        hw: &mut H,
        entry: EntryAddress,
        value: RawDescriptor,
    ) -> Result<RawDescriptor, Reason> {
        let class = self.frames.get(entry.as_u64());
        if !Configured::PRIVATE_TABLES.is_made() && self.is_private_table(class, value) {
            let old = entry.read(hw);
            entry.write(hw, value);
            return Ok(old);
        }
        let level = class.and_then(FrameType::as_table);
        let level = level.ok_or(Reason::NotATable)?;
        // The table block holds tables as well, without metadata: those never change.
        let table = self.pool_index(entry.as_u64());
        let table = table.ok_or(Reason::NotATable)?;
        let place = LinkedEntry {
            entry,
            table,
            level,
        };
        if C::VECTORS.is_made() && self.shows_vectors(place) {
            return Err(Reason::NotText);
        }
        match level.next() {
            None => self.write_page(hw, place, value),
            Some(below) => self.write_table(hw, place, below, value),
        }
    }

    /// Whether a private frame is written as a table, or is to be one below level 1.
    fn is_private_table(&self, written: Option<FrameType>, value: RawDescriptor) -> bool {
        let is_link = written == Some(FrameType::KernelTable1) && value.is_plain_table();
        let child = self.frames.get(value.output().as_u64());
        let private = Some(FrameType::Private);
        written == private || is_link && value.is_valid() && child == private
    }

    /// The check of [`write`](Self::write) alone, for a valid descriptor of a table of level 3.
    pub(crate) fn check_page(&self, leaf: u64) -> Result<(), Reason> {
        leaf::check_page::<C>(&self.frames, &self.devices, RawDescriptor(leaf))
    }

    /// The check of [`write`](Self::write) alone, for a valid block descriptor of a table of level
    /// 2.
    pub(crate) fn check_block(&self, leaf: u64) -> Result<(), Reason> {
        leaf::check_block::<C>(&self.frames, &self.devices, RawDescriptor(leaf))
    }

    fn shows_vectors(&self, place: LinkedEntry) -> bool {
        let start = self.address(place).as_u64();
        self.vectors
            .is_some_and(|it| it.as_u64().wrapping_sub(start) < place.level.size())
    }
}
