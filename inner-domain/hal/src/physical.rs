// SPDX-License-Identifier: MIT OR Apache-2.0
//! Physical memory through the inner domain's own view of it.
//!
//! Never through an address of the outer view: what stands there is the outer domain's choice.
//! Accesses are volatile because the other side of the memory is another program's, which may
//! write it meanwhile: a caller decides about the word that it has read.

use donjon_abi::layout::PHYSMAP;
use donjon_core::memory::outer_range::WritableBuffer;
use zerocopy::FromBytes;

/// Writes `bytes` to memory of the outer domain, or as many as there is room for behind `offset`;
/// how many. Whole words where the place is a multiple of 8. The outer domain may read and write it
/// meanwhile; nothing is read back.
pub fn write_outer(buffer: &WritableBuffer<'_>, offset: u64, bytes: &[u8]) -> u64 {
    let room = buffer.length().saturating_sub(offset);
    let count = room.min(bytes.len() as u64);
    let Some(physical) = buffer.part(offset, count) else {
        return 0;
    };
    let bytes = bytes.get(..count as usize).unwrap_or_default();
    let (words, _) = bytes.as_chunks::<8>();
    let words = if physical.is_multiple_of(8) {
        words
    } else {
        &[]
    };
    for (place, word) in (physical..).step_by(8).zip(words) {
        // SAFETY: a word at a multiple of 8, within a buffer that was checked to be RAM which the
        // outer domain may write itself; the physical view maps it.
        unsafe { ((PHYSMAP + place) as *mut u64).write_volatile(u64::from_ne_bytes(*word)) };
    }
    let (_, rest) = bytes.split_at(words.len() * 8);
    for (place, byte) in (physical + words.len() as u64 * 8..).zip(rest) {
        // SAFETY: within a buffer that was checked to be RAM which the outer domain may write
        // itself; the physical view maps it.
        unsafe { ((PHYSMAP + place) as *mut u8).write_volatile(*byte) };
    }
    count
}

/// Reads words of `T` from physical memory, each once.
///
/// # Safety
///
/// `physical` is aligned to `T`, and the range is RAM.
pub unsafe fn read_outer<T: Copy + FromBytes>(physical: u64, words: &mut [T]) {
    for (index, word) in words.iter_mut().enumerate() {
        let pointer = (PHYSMAP + physical) as *const T;
        // SAFETY: within a range that is RAM and aligned; every bit pattern is a `T`.
        *word = unsafe { pointer.add(index).read_volatile() };
    }
}

/// The items of a list of `T` in physical memory, each read once, when it is asked for.
///
/// # Safety
///
/// `physical` is aligned to `T`, and `count` of them are RAM as long as the iterator is used.
pub unsafe fn items<T: Copy + FromBytes>(physical: u64, count: u64) -> impl Iterator<Item = T> {
    let size = size_of::<T>() as u64;
    (0..count).map(move |index| {
        // SAFETY: within a range that is RAM and aligned; every bit pattern is a `T`.
        unsafe { ((PHYSMAP + physical + index * size) as *const T).read_volatile() }
    })
}

/// Writes words to a private frame.
///
/// # Safety
///
/// `physical` is aligned, and the range is in a frame that the compartment which is being built
/// has.
pub unsafe fn write_private(physical: u64, words: &[u64]) {
    for (index, word) in words.iter().enumerate() {
        // SAFETY: an aligned word of a private frame of a compartment that is being built, so
        // nothing refers to it; the physical view maps it.
        unsafe {
            ((PHYSMAP + physical) as *mut u64)
                .add(index)
                .write_volatile(*word)
        };
    }
}

/// Copies bytes, each read once; whole words where both addresses and the number allow it.
///
/// # Safety
///
/// Both ranges are RAM that compartments have or share with the outer domain. That may write what
/// it shares meanwhile.
pub unsafe fn copy(from: u64, to: u64, bytes: u64) {
    if (from | to | bytes).is_multiple_of(8) {
        for at in (0..bytes).step_by(8) {
            // SAFETY: words of RAM that compartments have, at multiples of 8; the physical view
            // maps them.
            unsafe {
                let word = ((PHYSMAP + from + at) as *const u64).read_volatile();
                ((PHYSMAP + to + at) as *mut u64).write_volatile(word);
            }
        }
        return;
    }
    for at in 0..bytes {
        // SAFETY: bytes of RAM that compartments have; the physical view maps them.
        unsafe {
            let byte = ((PHYSMAP + from + at) as *const u8).read_volatile();
            ((PHYSMAP + to + at) as *mut u8).write_volatile(byte);
        }
    }
}

/// Writes one instruction of text.
///
/// # Safety
///
/// `physical` is RAM that holds text of the outer domain, 4-byte aligned, and the word was
/// scanned. The caller does the cache maintenance.
pub unsafe fn write_instruction(physical: u64, word: u32) {
    // SAFETY: an aligned word of the outer domain's text, which is RAM that the physical view maps;
    // the new word was scanned.
    unsafe { ((PHYSMAP + physical) as *mut u32).write_volatile(word) };
}

/// Writes two instructions in one store, or a pointer among them: 8-byte aligned.
///
/// # Safety
///
/// `physical` is RAM that holds text of the outer domain, 8-byte aligned, and both words were
/// scanned. The caller does the cache maintenance.
pub unsafe fn write_instruction_pair(physical: u64, words: u64) {
    // SAFETY: two aligned words of the outer domain's text, which is RAM that the physical view
    // maps; the new words were scanned.
    unsafe { ((PHYSMAP + physical) as *mut u64).write_volatile(words) };
}

/// A zeroed table of inner memory, found by its physical address.
///
/// # Safety
///
/// The memory is the inner domain's, holds `count` valid values of `T` and is given out once.
pub unsafe fn table<T>(physical: u64, count: usize) -> &'static mut [T] {
    // SAFETY: the memory is the inner domain's, holds `count` valid values of `T`, and is given out
    // once; the physical view maps it for good.
    unsafe { core::slice::from_raw_parts_mut((PHYSMAP + physical) as *mut T, count) }
}
