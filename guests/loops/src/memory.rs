// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loops over memory. Each word is one access: nothing is left out or joined.

use core::ptr;

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// Writes one word in each page.
#[inline(never)]
pub fn touch(words: &mut [u64]) {
    for page in words.chunks_exact_mut(PAGE / 8) {
        // SAFETY: a word of the slice.
        unsafe { ptr::from_mut(&mut page[0]).write_volatile(1) };
    }
}

/// Writes every word.
#[inline(never)]
pub fn write(words: &mut [u64], seed: u64) {
    let mut value = seed;
    for word in words {
        // SAFETY: a word of the slice.
        unsafe { ptr::from_mut(word).write_volatile(value) };
        value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    }
}

/// Reads every word: a sum that depends on the order.
#[inline(never)]
pub fn read(words: &[u64]) -> u64 {
    let mut sum = 0_u64;
    for word in words {
        // SAFETY: a word of the slice.
        let value = unsafe { ptr::from_ref(word).read_volatile() };
        sum = sum.rotate_left(1).wrapping_add(value);
    }
    sum
}
