// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scanner: may this word stand in a page that the outer domain executes at EL1?
//!
//! A64 instructions are aligned words, so no jump leads into the middle of one, and looking at
//! each word of a page once is complete: what is not in the page as a word cannot be executed
//! from it. (This is about memory. That the instruction cache holds the same words is ensured
//! where the page is mapped executable.)
//!
//! Whatever changes translation, protection or the exception level stands in one eighth of the
//! encoding space that is easy to recognize: bits 31 to 25 are 1101010 (DDI 0487, C4.1, "Branches,
//! Exception Generating and System instructions"). It has two halves: bit 24 clear generates
//! exceptions, bit 24 set is the System instruction space. Every word of this space is refused but
//! for
//!
//! * reads of registers (MRS, MRRS): no register that can be read at EL1 changes the view;
//! * what is on the list.
//!
//! # The list
//!
//! It is data, each entry with its reason, in `kernel-patch/allow-list.toml`; `allow_list.rs` and
//! `names.rs` are generated from it. A list of what is allowed, because each version of the
//! architecture adds registers that change translation, and a list of what is forbidden would have
//! to know them all.
//!
//! # What is not looked at
//!
//! Everything outside this space: loads, stores, arithmetic, and branches, among them ERET, which
//! can only lead where an ordinary branch or a system call's return leads as well.

mod allow_list;
mod class;
mod encoding;
mod form;
mod names;

#[cfg(test)]
mod tests;

use crate::checks::{Checks, Configured};
use form::Form;

pub use class::{Class, Exception};
pub use encoding::Encoding;

/// Bits 31 to 25 of every word that is decided here.
const SPACE: u32 = 0b110_1010;

/// What is decided of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanResult {
    /// The word may stand in a page that is executable at EL1.
    Allowed,
    /// The word may not stand there; the class says what it is.
    Refused(Class),
}

/// Decides about one word.
pub fn check(word: u32) -> ScanResult {
    if is_allowed(word) {
        ScanResult::Allowed
    } else {
        ScanResult::Refused(Class::of(word))
    }
}

/// The index of the first word that is refused, and the word.
pub fn first_refused(words: impl Iterator<Item = u32>) -> Option<(usize, u32)> {
    words.enumerate().find(|&(_, word)| !is_allowed(word))
}

/// Is this a word that only the list can allow? For listings; [`check`] needs no such question.
pub fn is_sensitive(word: u32) -> bool {
    in_space(word) && !is_read(word)
}

#[inline]
fn is_allowed(word: u32) -> bool {
    !in_space(word) || decide(word) || !Configured::SCAN.is_made()
}

#[inline]
const fn in_space(word: u32) -> bool {
    word >> 25 == SPACE
}

/// The order is that of frequency: a page made to be slow to decide takes about 22 instructions
/// for each word.
fn decide(word: u32) -> bool {
    match Form::of(word) {
        Form::Write => {
            let encoding = Encoding::of(word);
            encoding.is_complete(word) && is_listed(encoding)
        }
        Form::Exception => {
            Exception::of(word).is_some_and(|it| allow_list::EXCEPTIONS.contains(&(it as u8)))
        }
        Form::Read | Form::ReadPair | Form::WritePair | Form::Reserved => is_read(word),
    }
}

/// MRS and MRRS. With op0 below 2 the same bit means SYSL (a system instruction with a result:
/// among them acknowledging interrupts and switching the guarded control stack) or nothing yet.
fn is_read(word: u32) -> bool {
    matches!(Form::of(word), Form::Read | Form::ReadPair) && Encoding::of(word).op0() >= 2
}

/// One byte for each CRm, one bit in it for each op2.
type Row = [u8; 16];

/// Which row belongs to (op0, op1, CRn); row 0 is empty.
static ROW_OF: [u8; 512] = {
    let mut index = [0; 512];
    let mut row = 0;
    while row < allow_list::ROWS.len() {
        // There are 512 rows at most, and the last assertion bounds what is there.
        index[allow_list::ROWS[row].0 as usize] = row as u8 + 1;
        row += 1;
    }
    index
};

static ROWS: [Row; allow_list::ROWS.len() + 1] = {
    let mut rows = [[0; 16]; allow_list::ROWS.len() + 1];
    let mut row = 0;
    while row < allow_list::ROWS.len() {
        rows[row + 1] = allow_list::ROWS[row].1.to_le_bytes();
        row += 1;
    }
    rows
};

const _: () = assert!(allow_list::ROWS.len() < 256, "a row's number is a byte");

fn is_listed(encoding: Encoding) -> bool {
    let row = ROW_OF[encoding.row()];
    let Some(row) = ROWS.get(usize::from(row)) else {
        return false;
    };
    row[encoding.crm()] >> encoding.op2() & 1 != 0
}
