// SPDX-License-Identifier: MIT OR Apache-2.0
//! A report on its way from one compartment to a second, through a host that neither trusts.

/// A report with its code, which says whether it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// What authenticates it in this boot.
    pub code: [u8; 32],
    /// What the compartment began with.
    pub measurement: [u8; 32],
    /// What it had reported.
    pub data: [u8; 64],
    /// Digest of what was started.
    pub started: [u8; 32],
    /// Limit, version, weakened bits, identity.
    pub words: [u64; 4],
}

impl Record {
    /// Bytes of one.
    pub const BYTES: usize = 192;

    /// The record in bytes: the fields in their order, words big-endian.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let words = self.words.map(u64::to_be_bytes);
        let fields = [
            &self.code[..],
            &self.measurement,
            &self.data,
            &self.started,
            words.as_flattened(),
        ];
        let mut rest = &mut bytes[..];
        for field in fields {
            let (to, behind) = rest.split_at_mut(field.len());
            to.copy_from_slice(field);
            rest = behind;
        }
        bytes
    }

    /// The record that bytes stand for.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let part = |at: usize| -> [u8; 32] { core::array::from_fn(|index| bytes[at + index]) };
        let word = |at: usize| {
            u64::from_be_bytes(core::array::from_fn(|index| bytes[160 + at * 8 + index]))
        };
        Self {
            code: part(0),
            measurement: part(32),
            data: core::array::from_fn(|index| bytes[64 + index]),
            started: part(128),
            words: core::array::from_fn(word),
        }
    }
}
