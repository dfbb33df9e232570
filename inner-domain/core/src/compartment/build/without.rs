// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages that are copied again after they were measured: what a test build without the check
//! `READ_ONCE` gives to a compartment.
#![cfg(feature = "checks-by-word")]

use super::super::{Addition, Memory, PIECE};

/// Copies a piece of a page again, until it differs from what was measured, or for a while: what
/// another CPU does on a busy host must have time to fall between.
pub fn copy_changed<M: Memory>(memory: &mut M, addition: &Addition, measured: &[u8; PIECE]) {
    const COPIES: usize = 1_000;
    let Addition { from, to, done, .. } = addition;
    let (from, to) = (from.byte(*done), to.byte(*done));
    let mut seen = *measured;
    for _ in 0..COPIES {
        memory.copy_in(from, to, &mut seen);
        if seen != *measured {
            break;
        }
    }
}
