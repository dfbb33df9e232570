// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two libraries that exchange messages. Each message has a word that it can be searched for by,
//! and that is in no program: it is computed from a seed.

use core::hint::black_box;
use core::mem;

use crate::message::{MESSAGE, Message};

/// Messages that each side keeps.
pub const KEPT: usize = 3;
/// Words of a message: the one to search for, a number, and words that depend on both.
const WORDS: usize = MESSAGE / 8;

/// The word that all messages of a seed begin with.
pub fn marker(seed: u64) -> u64 {
    let z = mixed(seed);
    z ^ z >> 31
}

/// The complement of [`marker`], for a program that must not have the word itself: a search of all
/// memory would find it there, even in a register that was stored.
pub fn complement(seed: u64) -> u64 {
    let z = mixed(seed);
    black_box(!z) ^ z >> 31
}

/// All but the last step of `SplitMix64`, which is what differs above.
fn mixed(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb)
}

/// What a library in a compartment is called for: the first argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Errand {
    /// An end of a channel, a seed, and whether it begins: [`Library::turn`], or -1.
    Turn,
    /// An address and a seed: whether the word there is the seed's.
    Look,
}

impl Errand {
    /// The errand that a word stands for.
    pub const fn of(word: u64) -> Option<Self> {
        match word {
            0 => Some(Self::Turn),
            1 => Some(Self::Look),
            _ => None,
        }
    }
}

/// What a library says and hears through.
pub trait Link {
    /// Sends a message; false if it did not go.
    fn send(&mut self, message: &[u8; MESSAGE]) -> bool;
    /// Receives the next one; false if none came.
    fn receive(&mut self, message: &mut [u8; MESSAGE]) -> bool;
}

/// A library: how much it has said and heard, and the last messages. Zeros are one that has done
/// nothing.
#[derive(Debug)]
#[repr(C)]
pub struct Library {
    said: u64,
    heard: u64,
    kept: [Message; KEPT],
}

impl Library {
    /// Where it has the word to search for, in bytes from its beginning, once it has said and heard
    /// something.
    pub const PLACE: usize = mem::offset_of!(Self, kept);

    /// Hears what the other one says, unless it is the one to begin, and says something. How many
    /// messages it has said; none if a message did not go, did not come, or is not what it has to
    /// be.
    #[inline(never)]
    pub fn turn(&mut self, seed: u64, begins: bool, link: &mut impl Link) -> Option<u64> {
        if !begins || self.said > 0 {
            let number = 2 * self.heard + u64::from(begins);
            let message = self.slot();
            if !link.receive(&mut message.0) || !message.is(seed, number) {
                return None;
            }
            self.heard += 1;
        }
        let number = 2 * self.said + u64::from(!begins);
        let message = self.slot();
        message.fill(seed, number);
        if !link.send(&message.0) {
            return None;
        }
        self.said += 1;
        Some(self.said)
    }

    /// The place of the next message.
    fn slot(&mut self) -> &mut Message {
        &mut self.kept[(self.said + self.heard) as usize % KEPT]
    }
}

impl Message {
    fn fill(&mut self, seed: u64, number: u64) {
        for (index, word) in self.0.as_chunks_mut().0.iter_mut().enumerate() {
            *word = expected(seed, number, index).to_le_bytes();
        }
    }

    fn is(&self, seed: u64, number: u64) -> bool {
        let mut words = self.0.as_chunks().0.iter().enumerate();
        words.all(|(index, word)| u64::from_le_bytes(*word) == expected(seed, number, index))
    }
}

fn expected(seed: u64, number: u64, index: usize) -> u64 {
    match index {
        0 => marker(seed),
        1 => number,
        _ => marker(seed ^ ((number + 1) * WORDS as u64 + index as u64)),
    }
}
