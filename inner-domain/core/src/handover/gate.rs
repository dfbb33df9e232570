// SPDX-License-Identifier: MIT OR Apache-2.0
//! Step 4: the gate's tables, which the boot stage made and Linux had no business with, and the
//! rest of the block that they are in.

use donjon_abi::layout::{
    GATE, GATE_L1_PAGE, GATE_L2_PAGE, GATE_L3_PAGE, GATE_SLOT, LINEAR_L1_PAGE, PAGE_SIZE, ROOT_PAGE,
};

use super::description::units;
use super::error::{Fault, HandoverError};
use super::{EntryPlace, Takeover};
use crate::checks::Checks;
use crate::translation::address::{ENTRIES, Level, PhysicalAddress};
use crate::translation::descriptor::{Descriptor, MappingKind};
use crate::translation::frames::FrameType;
use crate::translation::{FrameAddress, Hardware};

impl<H: Hardware, C: Checks> Takeover<'_, '_, H, C> {
    /// Checks that the gate's tables lead from the root through three pages of the table block to
    /// one page of the inner domain, and nowhere else. That page becomes the gate.
    pub(super) fn check_gate(&mut self) -> Result<(), HandoverError> {
        let block = FrameAddress::containing(self.machine.table_block.start());
        let page = |number: u64| block.after(number);
        let tables = [
            self.root,
            page(GATE_L1_PAGE),
            page(GATE_L2_PAGE),
            page(GATE_L3_PAGE),
        ];
        let mut place = EntryPlace::default();
        for (table, expected) in tables.iter().zip(tables.iter().skip(1)) {
            let first = *table == self.root;
            place = self.only_entry(*table, if first { GATE_SLOT } else { 0 }, !first)?;
            let expected =
                PhysicalAddress::new(expected.as_u64()).map(|it| Descriptor::table(it).encode());
            if Some(place.descriptor) != expected {
                return Err(HandoverError::at(place)(Fault::Gate));
            }
        }
        let leaf = self.only_entry(tables[3], 0, true)?;
        let Descriptor::Page { output, .. } = Descriptor::decode(leaf.descriptor, Level::Three)
        else {
            return Err(HandoverError::at(place)(Fault::Gate));
        };
        let expected = Descriptor::leaf(Level::Three, output, MappingKind::GateText);
        let gate = FrameAddress::of(output);
        let is_inner = self.frame(gate) == Some(FrameType::Inner);
        if !is_inner || expected.map(Descriptor::encode) != Some(leaf.descriptor) {
            return Err(HandoverError::at(leaf)(Fault::Gate));
        }
        self.set(gate, FrameType::Gate);
        Ok(())
    }

    /// Every other page of the table block is zero: a walk with a forged geometry reads them, and
    /// the root that maps nothing is one of them (`docs/design.md`, forged geometry).
    pub(super) fn check_table_block(&self) -> Result<(), HandoverError> {
        const TABLES: [u64; 5] = [
            GATE_L1_PAGE,
            GATE_L2_PAGE,
            GATE_L3_PAGE,
            ROOT_PAGE,
            LINEAR_L1_PAGE,
        ];
        let block = self.machine.table_block;
        let frames = (0..).zip(units(block, PAGE_SIZE));
        let zero = frames.filter(|(page, _)| !TABLES.contains(page));
        let mut words = zero.flat_map(|(_, frame)| (frame..frame + PAGE_SIZE).step_by(8));
        match words.find(|word| self.hardware.read(*word) != 0) {
            None => Ok(()),
            Some(word) => Err(HandoverError::TableBlock(word)),
        }
    }

    /// The entry of a table for the gate; `alone` if it must be the only one.
    fn only_entry(
        &self,
        table: FrameAddress,
        index: usize,
        alone: bool,
    ) -> Result<EntryPlace, HandoverError> {
        let place = |index: usize| {
            let entry = table.entry(index);
            EntryPlace {
                va: GATE,
                entry: entry.as_u64(),
                descriptor: entry.read(self.hardware).0,
            }
        };
        let others = (0..ENTRIES).filter(|it| *it != index && alone).map(place);
        if let Some(other) = others.into_iter().find(|it| it.descriptor & 1 != 0) {
            return Err(HandoverError::at(other)(Fault::Gate));
        }
        Ok(place(index))
    }
}
