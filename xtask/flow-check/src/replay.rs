// SPDX-License-Identifier: MIT OR Apache-2.0
//! Walks the path that a log says, and stops at the first step that the program's text does not
//! have.
//!
//! What a log says is proved by its tags alone: [`crate::tag`] comes first.

mod batch;
mod failure;
mod log;
mod stop;
mod table;
mod walk;

use std::rc::Rc;

pub use failure::{Failure, Fault};

use crate::program::Program;

/// How a program or a segment of its log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With `svc #12`; the PC is behind it.
    Finished,
    /// Before the instruction at the PC: the segment was full, or the instruction faulted.
    Stopped,
}

/// The end of a program or of a segment of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// How it ended.
    pub how: Ending,
    /// Address of the next instruction.
    pub pc: u64,
    /// The path bits in x28. The next segment begins with them.
    pub path: u64,
}

/// A segment of a log.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Words of the segment.
    pub words: &'a [u64],
    /// How it ended.
    pub end: End,
}

/// The segments of a log, which a replay loads one after the other.
pub trait Segments {
    /// Returns how many segments there are.
    fn count(&self) -> usize;

    /// Returns how many words a segment has. Numbers are below the count.
    fn words(&self, number: usize) -> usize;

    /// Returns how a segment ended.
    fn end(&self, number: usize) -> End;

    /// Loads the words of a segment. `None`: they cannot be read, and the replay fails with
    /// [`Fault::Unreadable`].
    fn load(&mut self, number: usize) -> Option<Rc<[u64]>>;
}

impl Segments for &[Segment<'_>] {
    fn count(&self) -> usize {
        self.len()
    }

    fn words(&self, number: usize) -> usize {
        self[number].words.len()
    }

    fn end(&self, number: usize) -> End {
        self[number].end
    }

    fn load(&mut self, number: usize) -> Option<Rc<[u64]>> {
        self.get(number).map(|it| it.words.into())
    }
}

/// What a replay may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Blocks, rounds of counted loops not included.
    pub blocks: u64,
    /// Calls within each other.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            blocks: 1 << 36,
            depth: 1 << 22,
        }
    }
}

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A block began.
    Block {
        /// Address of its first instruction.
        start: u64,
        /// Address behind its last instruction.
        end: u64,
        /// Whether a call or an indirect branch led to it, or the program began there.
        called: bool,
    },
    /// A counted loop within the block that began last was left.
    Loop {
        /// Address of its first instruction.
        start: u64,
        /// Address behind its branch.
        end: u64,
        /// Rounds.
        times: u64,
    },
}

/// How long a path was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Blocks, and rounds of counted loops.
    pub blocks: u128,
    /// Direct and indirect calls.
    pub calls: u64,
    /// The most calls within each other.
    pub depth: usize,
    /// Places of the path at which the log may have ended, with equal words, path bits and PC: 1
    /// for a program that ended by itself. Counting ends at a limit.
    pub places: u64,
}

/// Walks the path that the segments of a log say, in order, and hands each step to `each`.
///
/// A program that was stopped may have been stopped at more than one place, each further on the
/// path than the one before, with no word and no path bit between them. The path then is the one to
/// the first of them, and [`Totals::places`] says how many there are.
///
/// # Errors
///
/// The first step that the program cannot have made, or what a path needs beyond `limits`.
pub fn replay(
    program: &Program,
    segments: &[Segment<'_>],
    limits: Limits,
    mut each: impl FnMut(Event),
) -> Result<Totals, Failure> {
    let mut segments = segments;
    replay_loaded(program, &mut segments, limits, &mut each)
}

/// Walks the path of a log as [`replay`] does, with at most two segments in memory.
///
/// # Errors
///
/// Those of [`replay`], and a segment that cannot be loaded.
pub fn replay_loaded(
    program: &Program,
    segments: &mut dyn Segments,
    limits: Limits,
    each: &mut dyn FnMut(Event),
) -> Result<Totals, Failure> {
    walk::Walk::new(program, segments, limits, each)?.run()
}
