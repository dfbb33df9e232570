// SPDX-License-Identifier: MIT OR Apache-2.0
//! The word that is searched for, and what came of it.

use std::arch::asm;
use std::fmt::{self, Display, Formatter};
use std::ops::AddAssign;

use donjon_guests::memory::PAGE;

/// The word, by its complement: this program must not have it, or it would be found in its own
/// registers, which the kernel stores.
#[derive(Clone, Copy)]
pub struct Wanted(pub u64);

impl Wanted {
    /// How often it is in a buffer, which is wiped.
    pub fn count(self, bytes: &mut [u8]) -> u64 {
        let words = bytes.as_chunks().0.iter();
        let count = words.filter(|it| self.is(u64::from_le_bytes(**it))).count();
        bytes.fill(0);
        count as u64
    }

    /// Whether this is it.
    pub fn is(self, word: u64) -> bool {
        let mut difference = word;
        // SAFETY: computes in a register. The compiler does not know what, so that it does not
        // compute the word to compare with.
        unsafe {
            asm!(
                "eor {0}, {0}, {1}",
                inout(reg) difference,
                in(reg) self.0,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        difference == u64::MAX
    }
}

/// What came of one way to read memory.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    /// Whether this Linux has it.
    pub is_there: bool,
    /// Pages that were read.
    pub read: u64,
    /// Pages that were not.
    pub refused: u64,
    /// Pages with messages, of those that were read.
    pub reached: u64,
    /// Words that were found.
    pub found: u64,
}

impl Tally {
    /// The tally of a way that there is.
    pub const THERE: Self = Self {
        is_there: true,
        read: 0,
        refused: 0,
        reached: 0,
        found: 0,
    };

    /// Counts a page that was read, or was not.
    pub fn add_page(&mut self, page: Option<&mut [u8; PAGE]>, has_messages: bool, wanted: Wanted) {
        match page {
            Some(bytes) => {
                self.read += 1;
                self.reached += u64::from(has_messages);
                self.found += wanted.count(bytes);
            }
            None => self.refused += 1,
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.is_there |= other.is_there;
        self.read += other.read;
        self.refused += other.refused;
        self.reached += other.reached;
        self.found += other.found;
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            is_there,
            read,
            refused,
            reached,
            found,
        } = self;
        let there = u8::from(*is_there);
        write!(f, "{there} {read} {refused} {reached} {found}")
    }
}
