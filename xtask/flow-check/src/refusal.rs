// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a program's text does not have the form of an attested program.

use std::fmt;

/// A rule that a text breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// R1: an instruction outside of the templates names this reserved register.
    Reserved(u32),
    /// R2: a record of this register belongs to no template.
    LoneRecord(u32),
    /// R3: an indirect branch or call is not directly behind the record of its register.
    Unrecorded,
    /// R4: x30 may hold what no record said, and not the call that led here.
    Link,
    /// R5: two paths of the region that begins here have one sum of edge numbers.
    EqualSums,
    /// R5: a path of the region that begins here has a number that its bits do not hold.
    LargeSum,
    /// R5: all paths of the region that begins here have too many blocks together.
    LargeRegion,
    /// R5: a cycle without the start of a region.
    CycleInRegion,
    /// R5: the start of a region does not have its own flush, or a flush has no start.
    Flush,
    /// R6: no instruction that an attested program may have.
    Instruction(u32),
    /// R6: no request that an attested program may make.
    Request(u32),
    /// R7: a branch leads out of the text.
    Outside,
    /// R7: the word at this address leads into a template.
    Inside(u64),
    /// R8: a counted loop does not move one register by one constant.
    Count,
    /// R8: two numbers of rounds of a counted loop leave one count.
    Rounds,
    /// R9: text that is not aligned, not below 4 GiB, or there twice.
    Place,
    /// R10: an entry or the target of a pointer is not in the text, or is within a template.
    Target,
    /// R11: a cycle that writes no word and no path bit.
    Silent,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reserved(register) => write!(
                f,
                "x{register} is used outside of the templates; compile with -ffixed-x{register}"
            ),
            Self::LoneRecord(register) => {
                write!(f, "the record of x{register} belongs to no template")
            }
            Self::Unrecorded => write!(
                f,
                "an indirect branch is not directly behind the record of its register"
            ),
            Self::Link => write!(
                f,
                "x30 may hold an address that neither the call of this function set nor a record \
                 said; record it behind its load"
            ),
            Self::EqualSums => write!(f, "two paths of this region have one sum of edge numbers"),
            Self::LargeSum => write!(
                f,
                "a path of this region has a larger sum of edge numbers than its bits hold"
            ),
            Self::LargeRegion => write!(f, "the region is too large; begin another one in it"),
            Self::CycleInRegion => write!(f, "a cycle has no start of a region"),
            Self::Flush => write!(f, "a start of a region and its flush do not fit each other"),
            Self::Instruction(word) => write!(f, "the instruction {word:#010x} is not allowed"),
            Self::Request(number) => write!(f, "svc #{number} is not allowed"),
            Self::Outside => write!(f, "a branch leads out of the text"),
            Self::Inside(from) => write!(f, "{from:#x} leads into a template here"),
            Self::Count => write!(
                f,
                "a counted loop does not move one register by one constant, in the direction that \
                 its record has"
            ),
            Self::Rounds => write!(
                f,
                "two numbers of rounds of this counted loop leave one count; let its branch test \
                 the counted register alone, or write bits"
            ),
            Self::Place => write!(
                f,
                "the text is not aligned, not below 4 GiB, or there twice; link it below 4 GiB"
            ),
            Self::Target => write!(
                f,
                "an entry or a pointer to code leads out of the text or into a template"
            ),
            Self::Silent => write!(
                f,
                "a cycle writes no word and no path bit; begin a region with a bit in it"
            ),
        }
    }
}

/// A place that a rule refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Address of the instruction.
    pub address: u64,
    /// What is wrong there.
    pub reason: Reason,
    /// Function, offset, file and line, for people. Nothing rests on it.
    pub place: Option<String>,
}

impl Refusal {
    /// Returns a refusal without a name for its place.
    pub const fn new(address: u64, reason: Reason) -> Self {
        Self {
            address,
            reason,
            place: None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address)?;
        if let Some(place) = &self.place {
            write!(f, " ({place})")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for Refusal {}
