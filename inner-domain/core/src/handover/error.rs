// SPDX-License-Identifier: MIT OR Apache-2.0
//! The errors of a hand-over.

use core::fmt;

use donjon_abi::call::Reason;
use thiserror::Error;

use super::place::EntryPlace;
use crate::translation::frames::FrameType;

/// Why. What had been changed stays changed: the caller stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HandoverError {
    /// What Linux says of itself cannot be true.
    #[error("what Linux says of itself is impossible: {0}")]
    Description(#[from] DescriptionError),
    /// An entry of a table is against the rules.
    #[error("{place}: {fault}")]
    Entry {
        /// The entry.
        place: EntryPlace,
        /// What is wrong with it.
        fault: Fault,
    },
    /// A range is not mapped from its beginning to its end.
    #[error("only {found} of {expected} pages of the kernel's {part} are mapped")]
    Incomplete {
        /// The range.
        part: Part,
        /// Pages of the range that are mapped.
        found: u64,
        /// Pages of the range.
        expected: u64,
    },
    /// The linear map shows a block of a pool in another way than as one block, or not at all.
    #[error("the linear map does not show the pool's block at {0:#x} as one block")]
    PoolNotLinear(u64),
    /// The linear map is empty.
    #[error("there is no linear map")]
    NoLinearMap,
    /// A page of the table block that must be empty has a word that is not zero.
    #[error("the word at {0:#x} in the table block is not zero")]
    TableBlock(u64),
    /// A copy of a table needs a free frame.
    #[error("the pool has no free frame for a copy of the table at {0:#x}")]
    PoolExhausted(u64),
}

impl HandoverError {
    /// `fault` at `place`, as a function for `map_err`.
    pub(super) fn at(place: EntryPlace) -> impl Fn(Fault) -> Self {
        move |fault| Self::Entry { place, fault }
    }
}

/// A range of the kernel's image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Code.
    Text,
    /// Constants.
    Constants,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Constants => "constants",
        })
    }
}

/// What is wrong with a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DescriptionError {
    /// A range is empty, upside down, or not whole pages or blocks.
    #[error("the range {start:#x} to {end:#x}")]
    Range {
        /// Start of the range.
        start: u64,
        /// End of the range.
        end: u64,
    },
    /// The vectors are not in the text, not aligned, or where a forged geometry leads elsewhere.
    #[error("the vectors at {0:#x}")]
    Vectors(u64),
    /// A pool is not free memory of the outer domain.
    #[error("the pool's block at {block:#x} ({reason:?})")]
    Pool {
        /// The block.
        block: u64,
        /// Why it is none.
        reason: Reason,
    },
}

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The entry of a root is not what its twin in the other half is.
    #[error("the other half of the root has {0:#x}")]
    HalvesDiffer(u64),
    /// A root slot that must stay empty, or is the inner domain's, is not.
    #[error("this root slot must be empty")]
    ForbiddenSlot,
    /// The gate's tables are not as the boot stage left them.
    #[error("the gate's tables lead elsewhere")]
    Gate,
    /// The reserved encoding 0b01 at level 0 or 3.
    #[error("reserved descriptor")]
    Reserved,
    /// A table descriptor with bits that it may not have.
    #[error("a table descriptor with unexpected bits")]
    TableBits,
    /// A table where no table can be.
    #[error("it leads to a table that is {0:?}")]
    TableTarget(Option<FrameType>),
    /// A table that another entry leads to as well.
    #[error("it leads to a table that another entry leads to as well")]
    TwoParents,
    /// A block of 1 GiB.
    #[error("a block of 1 GiB")]
    Level1Block,
    /// Executable at EL1 outside of the text.
    #[error("executable at EL1 outside of the kernel's text")]
    ExecutableElsewhere,
    /// Executable at EL1 and writable.
    #[error("writable and executable at EL1")]
    WritableExecutable,
    /// Text with attributes that text has not.
    #[error("text with unexpected attributes")]
    TextAttributes,
    /// A frame that is executable at another address already, or constants and something else.
    #[error("its frame {frame:#x} is {found:?} already")]
    SecondRole {
        /// The frame.
        frame: u64,
        /// What it is.
        found: Option<FrameType>,
    },
    /// Text or constants in memory that a device may write whenever it likes.
    #[error("devices write its frame {frame:#x}")]
    WrittenByDevices {
        /// The frame.
        frame: u64,
    },
    /// Text has an instruction that is not allowed.
    #[error("the frame {frame:#x} has the instruction {instruction:#010x} at offset {offset:#x}")]
    Instruction {
        /// The frame.
        frame: u64,
        /// Bytes from its start.
        offset: usize,
        /// The instruction.
        instruction: u32,
    },
    /// An entry of a contiguous group: entries must be free to change one by one.
    #[error("an entry of a contiguous group")]
    Contiguous,
    /// A block or contiguous group over frames of different kinds.
    #[error("a block over frames of different kinds")]
    Mixed,
    /// The linear map is not linear.
    #[error("the linear map shows another frame than it should")]
    NotLinear,
    /// A rule of table writes forbids the leaf.
    #[error("{}, the frame is {target:?}", reason_text(*reason))]
    Refused {
        /// Which.
        reason: Reason,
        /// What the frame is; none if it is no RAM.
        target: Option<FrameType>,
    },
}

const fn reason_text(reason: Reason) -> &'static str {
    match reason {
        Reason::BadDescriptor => "a leaf with bits that no such leaf has",
        Reason::BadTarget => "the frame may not be mapped like this",
        Reason::Executable => "executable at EL1",
        Reason::NotMemory => "neither RAM nor an allowed device",
        Reason::BadAttributes => "memory attributes that the frame may not have",
        _ => "forbidden",
    }
}
