// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pages that a compartment shares with its host. The host can change them at any time, so they
//! are copied from and to, and nothing refers to them.

use core::ptr;

use donjon_compartment_protocol::SHARED;

use crate::memory::PAGE;

/// Words that are copied without a branch.
const BLOCK: usize = 8;

unsafe extern "C" {
    /// Number of shared pages, which `entry!` defines.
    safe static donjon_shared_pages: u64;
}

/// How many bytes are shared.
pub fn size() -> usize {
    (donjon_shared_pages * PAGE) as usize
}

/// Copies bytes to the beginning of the shared pages; how many, as many as there is room for. It is
/// faster if they begin with a word.
pub fn write(from: &[u8]) -> usize {
    let to = ptr::with_exposed_provenance_mut::<u8>(SHARED as usize);
    let count = from.len().min(size());
    let from = &from[..count];
    // SAFETY: any bytes are a word.
    let words = match unsafe { from.align_to::<u64>() } {
        ([], words, _) => words,
        _ => &[],
    };
    let mut next = to.cast::<u64>();
    let mut put = |word: &u64| {
        // SAFETY: within the shared pages, which are writable and to which nothing refers; they
        // begin with a page, so each word is aligned.
        unsafe { next.write_volatile(*word) };
        next = next.wrapping_add(1);
    };
    let (blocks, rest) = words.as_chunks::<BLOCK>();
    blocks.iter().for_each(|it| it.iter().for_each(&mut put));
    rest.iter().for_each(put);
    for (index, byte) in from.iter().enumerate().skip(size_of_val(words)) {
        // SAFETY: within the shared pages, which are writable and to which nothing refers.
        unsafe { to.add(index).write_volatile(*byte) };
    }
    count
}

/// Copies bytes from the beginning of the shared pages; how many, as many as there are. It is
/// faster if they are to begin with a word.
pub fn read(to: &mut [u8]) -> usize {
    let from = ptr::with_exposed_provenance::<u8>(SHARED as usize);
    let count = to.len().min(size());
    let to = &mut to[..count];
    // SAFETY: any bytes are a word, and any word is bytes.
    let words = match unsafe { to.align_to_mut::<u64>() } {
        ([], words, _) => words,
        _ => &mut [],
    };
    let done = size_of_val(words);
    let mut next = from.cast::<u64>();
    let mut get = |word: &mut u64| {
        // SAFETY: within the shared pages, which are readable and begin with a page, so each word
        // is aligned; any value is a word.
        *word = unsafe { next.read_volatile() };
        next = next.wrapping_add(1);
    };
    let (blocks, rest) = words.as_chunks_mut::<BLOCK>();
    blocks
        .iter_mut()
        .for_each(|it| it.iter_mut().for_each(&mut get));
    rest.iter_mut().for_each(get);
    for (index, byte) in to.iter_mut().enumerate().skip(done) {
        // SAFETY: within the shared pages, to which nothing refers; any value is a byte.
        *byte = unsafe { from.add(index).read_volatile() };
    }
    count
}
