// SPDX-License-Identifier: MIT OR Apache-2.0
//! Step 5: checks that the kernel text, and nothing else, is executable at EL1.

use donjon_abi::layout::{GATE_SLOT, PAGE_SIZE};
use donjon_abi::tcr::MAIR_NORMAL;

use super::cursor::{Cursor, Entry};
use super::description::units;
use super::error::{Fault, HandoverError, Part};
use super::{BadInstruction, Takeover};
use crate::checks::Checks;
use crate::range::Range;
use crate::translation::address::Level;
use crate::translation::descriptor::{Attributes, Descriptor};
use crate::translation::frames::FrameType;
use crate::translation::{FrameAddress, Hardware};

/// MAIR index that Linux uses for the same Normal write-back memory where tags could be.
const MAIR_TAGGED: u32 = 1;
/// Bits of text that change nothing: AF, contiguous (refused later), GP, software's.
const FREE: u64 = Attributes::ACCESSED.bits()
    | Attributes::CONTIGUOUS.bits()
    | 1 << 50
    | 0b1111 << 55
    | 0b111 << 2;

impl<H: Hardware, C: Checks> Takeover<'_, '_, H, C> {
    /// Types the frames of text, vectors and constants, and scans what is executable.
    pub(super) fn find_code(
        &mut self,
        mut scan: impl FnMut(u64) -> Result<(), BadInstruction>,
    ) -> Result<(), HandoverError> {
        let mut cursor = Cursor::kernel(self.root);
        while let Some(entry) = cursor.next(self.hardware) {
            match entry.decode() {
                Descriptor::Table { next, .. } => {
                    if entry.level != Level::Zero || entry.index != GATE_SLOT {
                        cursor.descend(FrameAddress::of(next));
                    }
                }
                Descriptor::Block { output, attributes }
                | Descriptor::Page { output, attributes } => {
                    let output = FrameAddress::of(output);
                    let done = if attributes.contains(Attributes::PRIVILEGED_EXECUTE_NEVER) {
                        self.find_constants(&entry, output)
                    } else {
                        self.find_text(&entry, output, attributes, &mut scan)
                    };
                    done.map_err(HandoverError::at(entry.place))?;
                }
                Descriptor::Invalid => {}
            }
        }
        self.is_complete(Part::Text)?;
        self.is_complete(Part::Constants)
    }

    fn find_text(
        &mut self,
        entry: &Entry,
        output: FrameAddress,
        attributes: Attributes,
        scan: &mut impl FnMut(u64) -> Result<(), BadInstruction>,
    ) -> Result<(), Fault> {
        let (text, va) = (self.description.text, entry.place.va);
        let size = entry.level.size();
        if !text.contains(va) || !text.contains(va + (size - 1)) {
            return Err(Fault::ExecutableElsewhere);
        }
        let read_only = attributes.contains(Attributes::READ_ONLY);
        if !read_only || attributes.contains(Attributes::DIRTY_BIT_MODIFIER) {
            return Err(Fault::WritableExecutable);
        }
        let expected = Attributes::READ_ONLY
            | Attributes::INNER_SHAREABLE
            | Attributes::UNPRIVILEGED_EXECUTE_NEVER;
        let index = attributes.memory_index();
        if attributes.bits() & !FREE != expected.bits()
            || (index != MAIR_NORMAL && index != MAIR_TAGGED)
        {
            return Err(Fault::TextAttributes);
        }
        for page in 0..size / PAGE_SIZE {
            let class = if va + page * PAGE_SIZE == self.description.vectors {
                FrameType::KernelVectors
            } else {
                FrameType::KernelText
            };
            let frame = output.after(page);
            self.give_role(frame, class)?;
            let frame = frame.as_u64();
            scan(frame).map_err(|found| Fault::Instruction {
                frame,
                offset: found.offset,
                instruction: found.instruction,
            })?;
            self.summary.text_pages += 1;
        }
        Ok(())
    }

    fn find_constants(&mut self, entry: &Entry, output: FrameAddress) -> Result<(), Fault> {
        let va = entry.place.va;
        for page in 0..entry.level.size() / PAGE_SIZE {
            if !self.description.constants.contains(va + page * PAGE_SIZE) {
                continue;
            }
            let frame = output.after(page);
            // The table block is in the constants and has its types already.
            if !self.machine.table_block.contains(frame.as_u64()) {
                self.give_role(frame, FrameType::KernelReadOnly)?;
            }
            self.summary.constant_pages += 1;
        }
        Ok(())
    }

    /// Types an ordinary frame as text or constants. Whatever has a role already does not get a
    /// second one, and what devices write gets none.
    fn give_role(&mut self, frame: FrameAddress, class: FrameType) -> Result<(), Fault> {
        let address = frame.as_u64();
        if self.machine.written.iter().any(|it| it.contains(address)) {
            return Err(Fault::WrittenByDevices { frame: address });
        }
        match self.frame(frame) {
            Some(FrameType::Ordinary) => {
                self.set(frame, class);
                Ok(())
            }
            found => Err(Fault::SecondRole {
                frame: address,
                found,
            }),
        }
    }

    fn is_complete(&self, part: Part) -> Result<(), HandoverError> {
        let pages = |range: Range| units(range, PAGE_SIZE).count() as u64;
        let (found, expected) = match part {
            Part::Text => (self.summary.text_pages, pages(self.description.text)),
            Part::Constants => (
                self.summary.constant_pages,
                pages(self.description.constants),
            ),
        };
        if found == expected {
            Ok(())
        } else {
            Err(HandoverError::Incomplete {
                part,
                found,
                expected,
            })
        }
    }
}
