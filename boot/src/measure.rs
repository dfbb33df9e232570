// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures Linux (SHA-256) before it is started.

use sha2::{Digest, Sha256};

/// SHA-256 in big-endian words.
pub fn digest(bytes: &[u8]) -> [u64; 4] {
    let digest = Sha256::digest(bytes);
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(digest.chunks_exact(8)) {
        *word = bytes
            .iter()
            .fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    words
}
