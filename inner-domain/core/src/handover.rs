// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hand-over: validates what Linux built. Linux is trusted until then.
//!
//! Linux has built its tables by itself so far. Here everything that the lower half of the
//! kernel's root leads to is looked at once, every frame gets its type, and what the rules of
//! [`crate::kernel_tables`] would forbid is refused. From then on the rules keep it so.
//!
//! In this order:
//!
//! 1. The description makes sense, the pools are the outer domain's free memory.
//! 2. The kernel's tables are a tree: every table has one parent and is of one level, and the
//!    halves of the root agree.
//! 3. Kernel tables that stand elsewhere are copied into the pool. Each step of it leaves the
//!    translations as they are.
//! 4. The gate's tables lead to the gate, and what else is in the table block is zero.
//! 5. What is executable at EL1 is the text and nothing else; its frames are scanned.
//! 6. The pools become read-only in the linear map, and free frames of the tables' pool zero.
//! 7. Every leaf is checked by the rule that a table write goes through, now that all types are
//!    known.
//! 8. Everything is invalidated.
//!
//! Tables of users are Linux's own memory, which no walk reads afterwards: each CPU loads the root
//! that maps nothing before it goes on
//! ([`UserTables::begin`](crate::user_tables::UserTables::begin)).
//!
//! All this runs once, on one CPU while the others wait with interrupts masked.

mod code;
mod copy;
mod cursor;
mod description;
mod error;
mod gate;
mod leaves;
mod linear;
mod place;
mod validate;

use donjon_abi::call::Handover;
use donjon_abi::layout::PAGE_SIZE;

use crate::checks::Checks;
use crate::kernel_tables::KernelTables;
use crate::range::Range;
use crate::translation::frames::FrameType;
use crate::translation::{FrameAddress, Hardware};
use description::{Description, frames};

pub use error::{DescriptionError, Fault, HandoverError, Part};
pub use place::EntryPlace;

/// What the inner domain knows of the machine by itself.
#[derive(Clone, Copy, Debug)]
pub struct MachineParts<'a> {
    /// Physical address of the kernel's root.
    pub root: u64,
    /// The table block, with that root in it.
    pub table_block: Range,
    /// RAM.
    pub banks: &'a [Range],
    /// The inner domain's own memory and the pages that it does not share.
    pub inner: &'a [Range],
    /// What devices write, in whole pages; empty where they are not kept to a window.
    pub written: &'a [Range],
}

/// An instruction that text must not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadInstruction {
    /// Bytes from the start of the frame.
    pub offset: usize,
    /// The instruction.
    pub instruction: u32,
}

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Tables of the kernel, the root's included.
    pub kernel_tables: u64,
    /// Tables of the kernel that were copied into the pool.
    pub copied: u64,
    /// Leaves.
    pub leaves: u64,
    /// Pages of text.
    pub text_pages: u64,
    /// Pages of constants.
    pub constant_pages: u64,
    /// Physical address with which the linear map begins.
    pub linear_start: u64,
}

/// Takes over the machine that Linux describes in `said`: types all frames in `tables`, the
/// kernel's tables, and makes
/// the pools read-only. `scan` looks for forbidden instructions in a frame.
///
/// Nothing may write tables meanwhile. `tables` have not been used before.
///
/// # Errors
///
/// [`HandoverError`] for the first thing found that the rules forbid. The machine must not go
/// on then: some of the steps were made.
pub fn take_over<H: Hardware, C: Checks>(
    tables: &mut KernelTables<'_, C>,
    hardware: &mut H,
    machine: &MachineParts<'_>,
    said: &Handover,
    scan: impl FnMut(u64) -> Result<(), BadInstruction>,
) -> Result<Summary, HandoverError> {
    let description = Description::new(said)?;
    let mut takeover = Takeover {
        root: FrameAddress::containing(machine.root),
        tables,
        hardware,
        machine,
        description,
        summary: Summary::default(),
    };
    takeover.type_known_frames()?;
    takeover.validate()?;
    takeover.copy_tables()?;
    takeover.check_gate()?;
    takeover.check_table_block()?;
    takeover.find_code(scan)?;
    takeover.close_pools()?;
    takeover.check_leaves()?;
    takeover.tables.finish_import(takeover.hardware);
    takeover.tables.keep_vectors(takeover.description.vectors);
    Ok(takeover.summary)
}

/// The work in progress.
struct Takeover<'t, 'r, H: Hardware, C: Checks> {
    /// The kernel's root.
    root: FrameAddress,
    tables: &'t mut KernelTables<'r, C>,
    hardware: &'t mut H,
    machine: &'t MachineParts<'t>,
    description: Description,
    summary: Summary,
}

impl<H: Hardware, C: Checks> Takeover<'_, '_, H, C> {
    /// What is known without a look at the tables.
    fn type_known_frames(&mut self) -> Result<(), HandoverError> {
        let (mut address, end) = self.tables.frames().span();
        while address < end {
            if self.machine.banks.iter().any(|bank| bank.contains(address)) {
                self.set(FrameAddress::containing(address), FrameType::Ordinary);
            } else {
                self.tables.frames_mut().remove(address);
            }
            address += PAGE_SIZE;
        }
        for range in self.machine.inner {
            self.set_all(*range, FrameType::Inner);
        }
        self.set_all(self.machine.table_block, FrameType::TableBlock);
        self.open_pools()
    }

    fn set(&mut self, frame: FrameAddress, class: FrameType) {
        self.tables.frames_mut().set(frame.as_u64(), class);
    }

    fn set_all(&mut self, range: Range, class: FrameType) {
        for frame in frames(range) {
            self.set(frame, class);
        }
    }

    /// The type of a frame, none where there is no RAM.
    fn frame(&self, frame: FrameAddress) -> Option<FrameType> {
        self.tables.frames().get(frame.as_u64())
    }
}
