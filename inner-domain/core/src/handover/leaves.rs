// SPDX-License-Identifier: MIT OR Apache-2.0
//! Step 7: checks every leaf; all types are known by then.
//!
//! The rule is that of table writes. What is more here: Linux's image is mapped in larger leaves
//! than a table write may make.

use donjon_abi::layout::{GATE_SLOT, PAGE_SIZE, SLOT_SIZE};

use super::Takeover;
use super::cursor::{Cursor, Entry, UPPER_RANGE};
use super::error::{Fault, HandoverError};
use crate::checks::Checks;
use crate::translation::address::{ENTRIES, Level};
use crate::translation::descriptor::{Attributes, Descriptor};
use crate::translation::frames::FrameType;
use crate::translation::{FrameAddress, Hardware};

/// Bit 1 of a page, which a block has not.
const PAGE: u64 = 0b10;

/// Frames that one block may show together, because they are always shown
/// with the same permissions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeafKind {
    Ordinary,
    Text,
    /// The table block is among the constants.
    Constants,
    Pool,
    TextPool,
    /// No mapping shows these at all.
    Hidden,
    /// Not RAM.
    Elsewhere,
}

impl<H: Hardware, C: Checks> Takeover<'_, '_, H, C> {
    pub(super) fn check_leaves(&mut self) -> Result<(), HandoverError> {
        let mut cursor = Cursor::kernel(self.root);
        while let Some(entry) = cursor.next(self.hardware) {
            match entry.decode() {
                Descriptor::Table { .. } if is_gate(&entry) => {}
                Descriptor::Table { next, .. } => cursor.descend(FrameAddress::of(next)),
                Descriptor::Block { output, attributes }
                | Descriptor::Page { output, attributes } => {
                    self.check_kernel_leaf(&entry, FrameAddress::of(output), attributes)
                        .map_err(HandoverError::at(entry.place))?;
                    self.summary.leaves += 1;
                }
                Descriptor::Invalid => {}
            }
        }
        Ok(())
    }

    fn check_kernel_leaf(
        &self,
        entry: &Entry,
        output: FrameAddress,
        attributes: Attributes,
    ) -> Result<(), Fault> {
        let offset = entry.place.va - UPPER_RANGE;
        let is_linear = offset < SLOT_SIZE;
        if is_linear && output.as_u64() != self.summary.linear_start + offset {
            return Err(Fault::NotLinear);
        }
        let kind = self.kind_of_leaf(entry.level, output)?;
        // Elsewhere the pool would still be mapped like this when it is a pool no more.
        if entry.level == Level::Two && kind == LeafKind::Pool && !is_linear {
            return Err(Fault::Mixed);
        }
        if attributes.contains(Attributes::CONTIGUOUS) {
            return Err(Fault::Contiguous);
        }
        let leaf = entry.place.descriptor;
        // What is executable was looked at when the text was.
        if !attributes.contains(Attributes::PRIVILEGED_EXECUTE_NEVER) {
            return Ok(());
        }
        let checked = match (entry.level, kind) {
            // Left as they were, on purpose.
            (Level::Two, LeafKind::Pool | LeafKind::TextPool) if !C::POOL.is_made() => Ok(()),
            (Level::Three, _) => self.tables.check_page(leaf),
            (_, LeafKind::Ordinary | LeafKind::Elsewhere) => self.tables.check_block(leaf),
            // As each of its pages.
            _ => (0..ENTRIES as u64).try_for_each(|page| {
                let page = (leaf | PAGE) + page * PAGE_SIZE;
                self.tables.check_page(page)
            }),
        };
        checked.map_err(|reason| self.refused(reason, leaf))
    }

    fn refused(&self, reason: donjon_abi::call::Reason, leaf: u64) -> Fault {
        let target = self.frame(FrameAddress::containing(leaf & 0x0000_ffff_ffff_f000));
        Fault::Refused { reason, target }
    }

    fn kind_of_leaf(&self, level: Level, output: FrameAddress) -> Result<LeafKind, Fault> {
        let kind = self.kind(output);
        let pages = level.size() / PAGE_SIZE;
        if (1..pages).all(|page| self.kind(output.after(page)) == kind) {
            Ok(kind)
        } else {
            Err(Fault::Mixed)
        }
    }

    fn kind(&self, frame: FrameAddress) -> LeafKind {
        match self.frame(frame) {
            None => LeafKind::Elsewhere,
            Some(FrameType::Ordinary) => LeafKind::Ordinary,
            Some(FrameType::KernelText | FrameType::KernelVectors) => LeafKind::Text,
            _ if self.machine.table_block.contains(frame.as_u64()) => LeafKind::Constants,
            Some(FrameType::KernelReadOnly) => LeafKind::Constants,
            Some(FrameType::TextPoolFree) => LeafKind::TextPool,
            Some(FrameType::PoolFree) => LeafKind::Pool,
            Some(table) if table.as_table().is_some() => LeafKind::Pool,
            _ => LeafKind::Hidden,
        }
    }
}

fn is_gate(entry: &Entry) -> bool {
    entry.level == Level::Zero && entry.index == GATE_SLOT
}
