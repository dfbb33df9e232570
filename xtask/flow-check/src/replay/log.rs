// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words of a log, in order over all segments.

use donjon_flow_chain::Kind;

use super::{Ending, Fault, Segment};

/// A place in a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Number of the segment.
    pub segment: usize,
    /// Number of the next word in it.
    pub word: usize,
}

/// A log of which words are taken.
pub struct Log<'a> {
    segments: &'a [Segment<'a>],
    /// The next word to be taken.
    pub place: Place,
    /// Words that are left.
    pub left: u64,
}

impl<'a> Log<'a> {
    /// Begins with the first word of all segments.
    pub fn new(segments: &'a [Segment<'a>]) -> Self {
        Self {
            segments,
            place: Place::default(),
            left: segments.iter().map(|it| it.words.len() as u64).sum(),
        }
    }

    /// Takes the next word. The record that wrote it is at address `record`, and then x28 was
    /// `path`: that is what a segment that ends here says as well.
    pub fn take(
        &mut self,
        record: u64,
        path: impl Fn() -> u64,
        is_record: impl Fn(u64) -> bool,
    ) -> Result<u64, Fault> {
        loop {
            let segment = self
                .segments
                .get(self.place.segment)
                .ok_or(Fault::Missing)?;
            if let Some(&word) = segment.words.get(self.place.word) {
                self.place.word += 1;
                self.left -= 1;
                return Ok(word);
            }
            if self.place.segment + 1 >= self.segments.len() {
                return Err(Fault::Missing);
            }
            let end = segment.end;
            // A store of the program's own to the page behind the log makes a border as well, at
            // an ordinary instruction. Nothing was lost there.
            let fits = if end.pc == record {
                end.path == path()
            } else {
                !is_record(end.pc)
            };
            if !fits || end.how != Ending::Stopped {
                return Err(Fault::Border);
            }
            self.place = Place {
                segment: self.place.segment + 1,
                word: 0,
            };
        }
    }
}

/// Finds words of path bits ahead of what is taken.
pub struct Ahead {
    place: Place,
}

impl Ahead {
    /// Begins with the first word of a log.
    pub fn new() -> Self {
        Self {
            place: Place::default(),
        }
    }

    /// Returns the next word of path bits, each only once.
    pub fn next(&mut self, segments: &[Segment<'_>]) -> Option<u64> {
        while let Some(segment) = segments.get(self.place.segment) {
            let rest = segment.words.get(self.place.word..).unwrap_or(&[]);
            let bits = |&it: &u64| Kind::of(it) == Some(Kind::Bits);
            if let Some(at) = rest.iter().position(bits) {
                self.place.word += at + 1;
                return Some(rest[at]);
            }
            self.place = Place {
                segment: self.place.segment + 1,
                word: 0,
            };
        }
        None
    }
}
