// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a log is no path of a program.

use std::fmt;

/// What is wrong with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The log has no segment, or path bits that no program has.
    NoLog,
    /// The log has no word where the program writes one.
    Missing,
    /// The word is not of the kind that the program writes there.
    Kind(u64),
    /// The path bits are flushed elsewhere than the program flushes them.
    Flush,
    /// The region has no path with this sum.
    Path(u64),
    /// The loop cannot have moved its register so far.
    Count(u64),
    /// No pointer of the program may lead to this address.
    Target(u64),
    /// A return goes elsewhere than behind its call.
    Return {
        /// Where it goes.
        to: u64,
        /// Where the call returns to, if a call is open.
        expected: Option<u64>,
    },
    /// A segment ended elsewhere than at the record of its next word, or with other path bits.
    Border,
    /// The program ends here, and the log goes on or says another end.
    End,
    /// The segment cannot be loaded. The log may be right.
    Unreadable,
    /// The path is longer than the limit. The log may be right.
    Long,
    /// More calls are within each other than the limit. The program has no memory for them.
    Deep,
}

/// The first step of a log that the program cannot have made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Number of the segment.
    pub segment: usize,
    /// Number of the word in it that comes next.
    pub word: usize,
    /// Address of the instruction.
    pub address: u64,
    /// Function, offset, file and line of the address, for people.
    pub place: Option<String>,
    /// What is wrong.
    pub fault: Fault,
    /// Functions, offsets, files and lines of the addresses in `fault`, for people.
    pub named: [Option<String>; 2],
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (segment, word) = (self.segment, self.word);
        write!(f, "segment {segment}, word {word}, at ")?;
        place(f, self.address, &self.place)?;
        let [first, second] = &self.named;
        match self.fault {
            Fault::NoLog => write!(f, ": there is no log"),
            Fault::Missing => write!(f, ": the log has no word for this step"),
            Fault::Kind(it) => write!(f, ": the word {it:#x} is of another kind"),
            Fault::Flush => write!(f, ": the path bits are not written where they have to be"),
            Fault::Path(sum) => write!(f, ": no path of this region has the sum {sum}"),
            Fault::Count(it) => write!(f, ": the loop cannot count {it:#x}"),
            Fault::Target(to) => {
                write!(f, ": indirect branch to ")?;
                place(f, to, first)?;
                write!(f, ", which no pointer may hold")
            }
            Fault::Return { to, expected } => {
                write!(f, ": return to ")?;
                place(f, to, first)?;
                match expected {
                    Some(expected) => {
                        write!(f, ", the call returns to ")?;
                        place(f, expected, second)
                    }
                    None => write!(f, ", and no call is open"),
                }
            }
            Fault::Border => write!(f, ": the segment did not end at this record"),
            Fault::End => write!(f, ": the program cannot have ended as the report says"),
            Fault::Unreadable => write!(f, ": the segment cannot be read"),
            Fault::Long => write!(f, ": the path is too long; raise the limit of blocks"),
            Fault::Deep => write!(f, ": more calls are open than the program has stack for"),
        }
    }
}

/// Writes an address, and its function and offset.
fn place(f: &mut fmt::Formatter<'_>, address: u64, name: &Option<String>) -> fmt::Result {
    match name {
        Some(name) => write!(f, "{address:#x} ({name})"),
        None => write!(f, "{address:#x}"),
    }
}

impl std::error::Error for Failure {}
