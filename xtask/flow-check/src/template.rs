// SPDX-License-Identifier: MIT OR Apache-2.0
//! Templates, found in a text by their bytes.

mod count;
mod encode;
mod record;
mod region;

pub use count::Count;
pub use record::{CURSOR, LENGTH, PATH, SCRATCH, STATE};

use crate::instruction::{Flow, Instruction, LINK};
use crate::refusal::Reason;
use crate::text::Text;

/// What a template is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The start of a region.
    Region {
        /// Bits that it makes room for.
        bits: u32,
        /// Number of the flush's first word.
        flush: usize,
    },
    /// A flush: record of x28, its new beginning, and the branch to this word.
    Flush {
        /// Number of the word to which it goes back.
        back: usize,
    },
    /// A record of x30.
    Link,
    /// A record, and the branch or call to its register.
    Indirect,
    /// A counted loop, from before its first round to the record behind its last one.
    Count(Count),
    /// An addition of an edge's number.
    Edge(u32),
}

/// A template in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// What it is.
    pub kind: Kind,
    /// Number of its first word.
    pub start: usize,
    /// Number of the word behind it.
    pub end: usize,
}

impl Template {
    /// Says whether a word is the store that a record begins with.
    pub fn stores(word: u32) -> bool {
        record::stores(word)
    }

    /// Finds the template that begins with a word. `None`: the word is an ordinary instruction.
    ///
    /// # Errors
    ///
    /// Words that begin a template and do not go on as one.
    pub fn find(text: &Text, start: usize) -> Result<Option<Self>, Reason> {
        let words = &text.words()[start..];
        let found = if let Some(register) = record::of(words) {
            Some(recorded(text, start, register)?)
        } else if let Some((bits, flush)) = region::start(text, start)? {
            let length = if bits == 1 { 2 } else { 3 };
            Some((Kind::Region { bits, flush }, length))
        } else if let Some(number) = region::edge(words[0]) {
            Some((Kind::Edge(number), 1))
        } else {
            let count = Count::find(text, start)?;
            count.map(|it| (Kind::Count(it), it.record + LENGTH - start))
        };
        Ok(found.map(|(kind, length)| Self {
            kind,
            start,
            end: start + length,
        }))
    }
}

/// Says what the record of a register belongs to, and how long both are.
fn recorded(text: &Text, start: usize, register: u32) -> Result<(Kind, usize), Reason> {
    let next = text.words().get(start + LENGTH).copied().unwrap_or(0);
    let flow = Instruction::decode(next).map(|it| it.flow);
    match register {
        PATH => region::flush(text, start).map(|back| (Kind::Flush { back }, LENGTH + 2)),
        SCRATCH => Err(Reason::LoneRecord(SCRATCH)),
        // A return behind it would go to its target once more, and not to the caller.
        LINK if flow == Some(Flow::IndirectBranch(LINK)) => Err(Reason::LoneRecord(LINK)),
        _ if flow == Some(Flow::IndirectBranch(register))
            || flow == Some(Flow::IndirectCall(register)) =>
        {
            Ok((Kind::Indirect, LENGTH + 1))
        }
        LINK => Ok((Kind::Link, LENGTH)),
        _ => Err(Reason::LoneRecord(register)),
    }
}
