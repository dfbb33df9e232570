// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code that is read again after it was scanned: what a test build without the check `READ_ONCE`
//! makes executable.
#![cfg(feature = "checks-by-word")]

use core::ops::Range;

use donjon_abi::call::{POKE_COPY, POKE_MAX};
use donjon_core::kernel_tables::Seal;
use donjon_core::translation::frames::FrameTable;
use donjon_hal::physical;

use super::{copy_list, outer_words, put_word};
use crate::outcome::Refusal;

/// How often it looks for a change. An emulator may run CPUs in turns, and then few changes come
/// directly after the scan.
const READS: usize = 2_000;

/// Copies a list again after it was scanned, until it has changed.
pub fn copy_list_changed(
    words: &mut [u32],
    (source, kind): (u64, u64),
    frames: &FrameTable<'_>,
) -> Result<(), Refusal> {
    if kind != POKE_COPY {
        return Ok(());
    }
    let mut scanned = [0; POKE_MAX / 4];
    let scanned = &mut scanned[..words.len()];
    scanned.copy_from_slice(words);
    for _ in 0..READS {
        copy_list(words, source, frames)?;
        if words != scanned {
            break;
        }
    }
    Ok(())
}

/// Copies a word that has changed after it was scanned.
pub fn copy_changed(seal: &Seal, range: &Range<usize>) {
    let from = seal.to + range.start as u64 * 4;
    for _ in 0..READS {
        // SAFETY: words of a frame of the text pool, which is RAM; each bit pattern is a word.
        let scanned = unsafe { physical::items::<u32>(from, range.len() as u64) };
        let mut both = outer_words(seal, range).zip(scanned).zip(range.clone());
        if let Some(((word, _), index)) = both.find(|((now, scanned), _)| now != scanned) {
            put_word(seal, index, word);
            return;
        }
    }
}
