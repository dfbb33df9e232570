// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which pages of RAM devices reach, and how.
//!
//! Every page that Linux's allocator may hand out has to be in the window: a request for a page
//! that is missing writes nothing, and the device says that it succeeded.

use donjon_abi::layout::PAGE_SIZE;
use thiserror::Error;

use crate::range::Range;

/// Most pieces of a window.
pub const MAX_PIECES: usize = 32;

/// What devices may do with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read it: text and constants of the kernel, pages of which a user may write to a disk.
    Read,
    /// Read and write it.
    ReadWrite,
}

impl Access {
    const fn covers(self, wanted: Self) -> bool {
        matches!((self, wanted), (Self::ReadWrite, _) | (_, Self::Read))
    }
}

/// Whole pages that devices reach in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The pages.
    pub range: Range,
    /// What devices may do with them.
    pub access: Access,
}

/// The window has more pieces than there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("what devices reach is in more than {MAX_PIECES} pieces")]
pub struct TooManyPieces;

/// What devices reach, in pieces that do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceWindow {
    pieces: [Option<Piece>; MAX_PIECES],
    used: usize,
}

impl DeviceWindow {
    /// Nothing that devices reach.
    pub const EMPTY: Self = Self {
        pieces: [None; MAX_PIECES],
        used: 0,
    };

    /// Makes the window of a machine: the whole pages of the `banks` of RAM, without the pages that
    /// a range of `hidden` touches. Devices only read the pages that `read_only` touches.
    ///
    /// # Errors
    ///
    /// [`TooManyPieces`] for more than [`MAX_PIECES`].
    pub fn new(
        banks: &[Range],
        hidden: &[Range],
        read_only: Option<Range>,
    ) -> Result<Self, TooManyPieces> {
        let mut window = Self::EMPTY;
        for bank in banks.iter().filter_map(|it| whole_pages_in(*it)) {
            let read_only = read_only.and_then(touched_pages);
            for (part, access) in divide(bank, read_only) {
                window.add(part, access, hidden)?;
            }
        }
        Ok(window)
    }

    /// Adds the pages of `range` that are not hidden.
    fn add(&mut self, range: Range, access: Access, hidden: &[Range]) -> Result<(), TooManyPieces> {
        let mut start = range.start();
        while start < range.end() {
            let at = |it: &Range| it.contains(start);
            let touched = || hidden.iter().filter_map(|it| touched_pages(*it));
            if let Some(hole) = touched().find(at) {
                start = hole.end();
                continue;
            }
            let behind = touched().map(Range::start).filter(|it| *it > start);
            let end = behind.min().unwrap_or(range.end()).min(range.end());
            let range = Range::new(start, end).ok_or(TooManyPieces)?;
            self.push(Piece { range, access })?;
            start = end;
        }
        Ok(())
    }

    fn push(&mut self, piece: Piece) -> Result<(), TooManyPieces> {
        let free = self.pieces.get_mut(self.used).ok_or(TooManyPieces)?;
        *free = Some(piece);
        self.used += 1;
        Ok(())
    }

    /// Returns the pieces.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        self.pieces.iter().flatten().copied()
    }

    /// Whether devices may do `access` to all of `range`. What they may write they may read.
    pub fn allows(&self, range: Range, access: Access) -> bool {
        let mut start = range.start();
        while start < range.end() {
            let suits = |it: &Piece| it.range.contains(start) && it.access.covers(access);
            match self.pieces().find(suits) {
                Some(piece) => start = piece.range.end(),
                None => return false,
            }
        }
        true
    }

    /// Makes the window of pieces that do not overlap, as [`pieces`](Self::pieces) returns them.
    ///
    /// # Errors
    ///
    /// [`TooManyPieces`] for more than [`MAX_PIECES`].
    pub fn from_pieces(pieces: impl Iterator<Item = Piece>) -> Result<Self, TooManyPieces> {
        let mut window = Self::EMPTY;
        for piece in pieces {
            window.push(piece)?;
        }
        Ok(window)
    }

    /// Returns the end of the highest piece; 0 for an empty window.
    pub fn end(&self) -> u64 {
        self.pieces().map(|it| it.range.end()).max().unwrap_or(0)
    }
}

/// The parts of a bank before, in and behind what devices only read.
fn divide(bank: Range, read_only: Option<Range>) -> impl Iterator<Item = (Range, Access)> {
    let (start, end) = read_only.map_or((bank.end(), bank.end()), |it| {
        let within = |address: u64| address.clamp(bank.start(), bank.end());
        (within(it.start()), within(it.end()))
    });
    let parts = [
        (bank.start(), start, Access::ReadWrite),
        (start, end, Access::Read),
        (end, bank.end(), Access::ReadWrite),
    ];
    let some = |(start, end, access)| Some((Range::new(start, end)?, access));
    parts.into_iter().filter_map(some)
}

/// The whole pages in a range.
fn whole_pages_in(range: Range) -> Option<Range> {
    let start = range.start().checked_next_multiple_of(PAGE_SIZE)?;
    Range::new(start, range.end() & !(PAGE_SIZE - 1))
}

/// The pages that a range touches.
fn touched_pages(range: Range) -> Option<Range> {
    let end = range.end().checked_next_multiple_of(PAGE_SIZE)?;
    Range::new(range.start() & !(PAGE_SIZE - 1), end)
}
