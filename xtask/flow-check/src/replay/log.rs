// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words of a log, in order over all segments.

use std::rc::Rc;

use donjon_flow_chain::Kind;

use super::{Ending, Fault, Segments};

/// A place in a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Number of the segment.
    pub segment: usize,
    /// Number of the next word in it.
    pub word: usize,
}

/// How far words of a log were taken.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    place: Place,
    left: u64,
}

/// A place, and the words of the segment that it is in.
#[derive(Default)]
struct Reader {
    place: Place,
    words: Option<Rc<[u64]>>,
}

impl Reader {
    /// Goes on with the next segment.
    fn advance(&mut self) {
        self.place = Place {
            segment: self.place.segment + 1,
            word: 0,
        };
        self.words = None;
    }

    /// Loads the segment, unless `other` has it. Another length than was announced is a failure.
    fn load(&mut self, segments: &mut dyn Segments, other: &Self) -> Result<&[u64], Fault> {
        let number = self.place.segment;
        if self.words.is_none() {
            let shared = other.words.clone();
            let shared = shared.filter(|_| other.place.segment == number);
            let words = shared.or_else(|| segments.load(number));
            let fits = |it: &Rc<[u64]>| it.len() == segments.words(number);
            self.words = Some(words.filter(fits).ok_or(Fault::Unreadable)?);
        }
        Ok(self.words.as_deref().unwrap_or_default())
    }
}

/// A log of which words are taken. It holds two segments at most: that of the next word, and that
/// of the next path bits.
pub struct Log<'a> {
    /// The segments.
    pub segments: &'a mut dyn Segments,
    next: Reader,
    ahead: Reader,
    /// Words that are left.
    pub left: u64,
}

impl<'a> Log<'a> {
    /// Begins with the first word of all segments.
    pub fn new(segments: &'a mut dyn Segments) -> Self {
        let left = (0..segments.count()).map(|it| segments.words(it) as u64);
        Self {
            left: left.sum(),
            segments,
            next: Reader::default(),
            ahead: Reader::default(),
        }
    }

    /// Returns where the next word is that will be taken.
    pub fn place(&self) -> Place {
        self.next.place
    }

    /// Returns how far words were taken.
    pub fn mark(&self) -> Mark {
        Mark {
            place: self.next.place,
            left: self.left,
        }
    }

    /// Goes back to where words were taken before.
    pub fn back_to(&mut self, mark: Mark) {
        if self.next.place.segment != mark.place.segment {
            self.next.words = None;
        }
        (self.next.place, self.left) = (mark.place, mark.left);
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
            let count = self.segments.count();
            if self.next.place.segment >= count {
                return Err(Fault::Missing);
            }
            let at = self.next.place.word;
            let words = self.next.load(self.segments, &self.ahead)?;
            if let Some(&word) = words.get(at) {
                self.next.place.word += 1;
                self.left -= 1;
                return Ok(word);
            }
            if self.next.place.segment + 1 >= count {
                return Err(Fault::Missing);
            }
            let end = self.segments.end(self.next.place.segment);
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
            self.next.advance();
        }
    }

    /// Returns the next word of path bits, taken or not, each only once. `None`: there is none.
    pub fn bits(&mut self) -> Result<Option<u64>, Fault> {
        while self.ahead.place.segment < self.segments.count() {
            let from = self.ahead.place.word;
            let words = self.ahead.load(self.segments, &self.next)?;
            let rest = words.get(from..).unwrap_or(&[]);
            let found = rest.iter().position(|&it| Kind::of(it) == Some(Kind::Bits));
            if let Some(at) = found {
                let word = rest[at];
                self.ahead.place.word += at + 1;
                return Ok(Some(word));
            }
            self.ahead.advance();
        }
        Ok(None)
    }
}
