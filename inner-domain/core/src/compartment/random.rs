// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random bytes from one seed.

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Bytes of a seed and of an answer.
pub const BYTES: usize = 32;

/// The stream of ChaCha20 (RFC 8439), of which each answer takes 64 bytes: half of them are the
/// next key. So the state does not tell what was answered before.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Generator {
    key: [u8; BYTES],
}

impl Generator {
    /// Makes a generator of a seed that only the inner domain knows.
    pub const fn new(seed: [u8; BYTES]) -> Self {
        Self { key: seed }
    }

    /// The next bytes.
    pub fn bytes(&mut self) -> [u8; BYTES] {
        let mut stream = [0; 2 * BYTES];
        let mut cipher = ChaCha20::new(&self.key.into(), &[0; 12].into());
        cipher.apply_keystream(&mut stream);
        let (key, answer) = stream.split_at(BYTES);
        self.key.copy_from_slice(key);
        let mut bytes = [0; BYTES];
        bytes.copy_from_slice(answer);
        stream.zeroize();
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn it_begins_as_the_stream_of_chacha20() {
        // RFC 8439, A.1, test vector 1: the key and the nonce are zeros.
        let mut generator = Generator::new([0; BYTES]);
        let answer = generator.bytes();
        assert_eq!(
            answer,
            [
                0xda, 0x41, 0x59, 0x7c, 0x51, 0x57, 0x48, 0x8d, 0x77, 0x24, 0xe0, 0x3f, 0xb8, 0xd8,
                0x4a, 0x37, 0x6a, 0x43, 0xb8, 0xf4, 0x15, 0x18, 0xa1, 0x1c, 0xc3, 0x87, 0xb6, 0x69,
                0xb2, 0xee, 0x65, 0x86
            ]
        );
        assert_eq!(generator.key[..4], [0x76, 0xb8, 0xe0, 0xad]);
    }

    #[test]
    fn no_answer_comes_twice() {
        let mut generator = Generator::new([7; BYTES]);
        let answers: BTreeSet<_> = (0..64).map(|_| generator.bytes()).collect();
        assert_eq!(answers.len(), 64);
    }
}
