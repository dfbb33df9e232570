// SPDX-License-Identifier: MIT OR Apache-2.0
//! The digest of what a boot stage starts. The boot stage takes it of its own image in memory, and
//! a verifier's host of the image's file.

use donjon_abi::manifest::{DmaProfile, Segment, SwitchMode};
use sha2::{Digest as _, Sha256};

use super::Digest;

/// What a boot stage starts, beside the inner domain's segments.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// How the inner domain is entered and left.
    pub switch_mode: SwitchMode,
    /// Whether Linux gets devices with DMA.
    pub dma_profile: DmaProfile,
    /// Bytes from the start of Linux that devices only read, where they are kept from memory.
    pub linux_read_only: u64,
    /// SHA-256 of Linux, in big-endian words.
    pub linux: [u64; 4],
    /// Linux's command line, as the device tree has it, without the zero behind it.
    pub command_line: &'a str,
}

impl Start<'_> {
    /// Returns the SHA-256 of settings, segments, Linux and command line. Each segment has the
    /// bytes that stand in the image; where they stand there is not part of it.
    pub fn digest<'a>(&self, segments: impl Iterator<Item = (Segment, &'a [u8])>) -> Digest {
        let mut hash = Sha256::new();
        let settings = [
            self.switch_mode as u64,
            self.dma_profile as u64,
            self.linux_read_only,
        ];
        for word in settings {
            hash.update(word.to_le_bytes());
        }
        for (segment, bytes) in segments {
            for word in [
                segment.address,
                segment.memory_size,
                segment.flags,
                bytes.len() as u64,
            ] {
                hash.update(word.to_le_bytes());
            }
            hash.update(bytes);
        }
        for word in self.linux {
            hash.update(word.to_be_bytes());
        }
        hash.update(self.command_line.as_bytes());
        hash.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: Segment = Segment {
        address: 0x1000,
        offset: 0x8000,
        file_size: 3,
        memory_size: 0x2000,
        flags: 5,
    };

    fn start() -> Start<'static> {
        Start {
            switch_mode: SwitchMode::Asid,
            dma_profile: DmaProfile::Open,
            linux_read_only: 0x1000,
            linux: [1, 2, 3, 4],
            command_line: "console=ttyAMA0",
        }
    }

    fn of(start: &Start<'_>, segment: Segment, bytes: &[u8]) -> Digest {
        start.digest([(segment, bytes)].into_iter())
    }

    #[test]
    fn each_part_is_in_the_digest() {
        let whole = of(&start(), SEGMENT, &[7; 3]);
        assert_eq!(whole, of(&start(), SEGMENT, &[7; 3]));
        let mut starts = [start(); 5];
        starts[0].switch_mode = SwitchMode::Strict;
        starts[1].dma_profile = DmaProfile::Strict;
        starts[2].linux[3] ^= 1 << 63;
        starts[3].command_line = "console=ttyAMA1";
        starts[4].linux_read_only = 0x2000;
        for it in &starts {
            assert_ne!(whole, of(it, SEGMENT, &[7; 3]), "{it:?}");
        }
        let mut segments = [SEGMENT; 3];
        segments[0].address ^= 1;
        segments[1].memory_size ^= 1;
        segments[2].flags ^= 1;
        for it in segments {
            assert_ne!(whole, of(&start(), it, &[7; 3]), "{it:?}");
        }
        assert_ne!(whole, of(&start(), SEGMENT, &[7, 7, 8]));
        assert_ne!(whole, of(&start(), SEGMENT, &[7; 2]));
    }

    #[test]
    fn the_words_have_their_order() {
        let bytes = [
            &1u64.to_le_bytes()[..],
            &2u64.to_le_bytes(),
            &0x1000u64.to_le_bytes(),
            &0x1000u64.to_le_bytes(),
            &0x2000u64.to_le_bytes(),
            &5u64.to_le_bytes(),
            &3u64.to_le_bytes(),
            &[7; 3],
            &1u64.to_be_bytes(),
            &2u64.to_be_bytes(),
            &3u64.to_be_bytes(),
            &4u64.to_be_bytes(),
            b"console=ttyAMA0",
        ]
        .concat();
        let expected: Digest = Sha256::digest(&bytes).into();
        assert_eq!(of(&start(), SEGMENT, &[7; 3]), expected);
    }
}
