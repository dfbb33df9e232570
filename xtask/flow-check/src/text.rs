// SPDX-License-Identifier: MIT OR Apache-2.0
//! The executable text of a program.

use donjon_flow_chain::ADDRESS_END;

use crate::refusal::{Reason, Refusal};

/// Words of a program at consecutive addresses.
#[derive(Clone, Debug)]
struct Piece {
    address: u64,
    first: usize,
    length: usize,
}

/// The executable text: words with numbers.
///
/// Behind each stretch of consecutive addresses a word of zeros stands, an undefined instruction:
/// there the program would fault.
#[derive(Clone, Debug)]
pub struct Text {
    pieces: Vec<Piece>,
    words: Vec<u32>,
}

impl Text {
    /// Makes a text of pieces, each with its address.
    ///
    /// # Errors
    ///
    /// A piece that is not aligned, not below 4 GiB, or where another piece is.
    pub fn new(mut given: Vec<(u64, Vec<u32>)>) -> Result<Self, Refusal> {
        given.sort_by_key(|it| it.0);
        let mut text = Self {
            pieces: Vec::new(),
            words: Vec::new(),
        };
        let mut end = 0;
        for (address, words) in given.into_iter().filter(|it| !it.1.is_empty()) {
            let size = 4 * words.len() as u64;
            let last = address.checked_add(size);
            let fits = last.is_some_and(|it| it <= ADDRESS_END);
            if !fits || !address.is_multiple_of(4) || address < end {
                return Err(Refusal::new(address, Reason::Place));
            }
            text.add(address, end, words);
            end = address + size;
        }
        text.words.push(0);
        Ok(text)
    }

    fn add(&mut self, address: u64, end: u64, words: Vec<u32>) {
        match self.pieces.last_mut() {
            Some(piece) if end == address => piece.length += words.len(),
            last => {
                if last.is_some() {
                    self.words.push(0);
                }
                self.pieces.push(Piece {
                    address,
                    first: self.words.len(),
                    length: words.len(),
                });
            }
        }
        self.words.extend(words);
    }

    /// Returns the words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns the number of the word at an address.
    pub fn index(&self, address: u64) -> Option<usize> {
        let at = self.pieces.partition_point(|it| it.address <= address);
        let piece = &self.pieces[at.checked_sub(1)?];
        let distance = address - piece.address;
        let inside = distance.is_multiple_of(4) && distance / 4 < piece.length as u64;
        inside.then(|| piece.first + (distance / 4) as usize)
    }

    /// Returns the address of a word.
    pub fn address(&self, index: usize) -> u64 {
        let at = self.pieces.partition_point(|it| it.first <= index);
        let piece = at.checked_sub(1).and_then(|it| self.pieces.get(it));
        piece.map_or(0, |it| it.address + 4 * (index - it.first) as u64)
    }

    /// Returns the number of the word at a distance in bytes from another word.
    pub fn at(&self, index: usize, distance: i64) -> Option<usize> {
        self.index(self.address(index).checked_add_signed(distance)?)
    }
}
