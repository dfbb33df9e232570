// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words of a log. Their kinds share no value, so a word of one kind cannot be shown as another.

/// End of the range of addresses: instrumented text lies below 4 GiB.
pub const ADDRESS_END: u64 = 1 << 32;

/// Most bits that the start of a region makes room for.
pub const MAX_BITS: u32 = 12;

/// The smallest word of path bits that is flushed: the sentinel has left the bits that a region
/// with [`MAX_BITS`] would push beyond bit 62.
pub const BITS_START: u64 = 1 << (63 - MAX_BITS);

/// The smallest count: bit 63 tells counts from path bits.
pub const COUNT_START: u64 = 1 << 63;

/// What a word of a log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Target of an indirect branch or return, below [`ADDRESS_END`].
    Address,
    /// Path bits below a sentinel, the highest set bit: from [`BITS_START`] to [`COUNT_START`].
    Bits,
    /// How far a loop's induction register moved, with bit 63 set.
    Count,
}

impl Kind {
    /// The kind of a word. `None`: no instrumented program writes such a word.
    pub const fn of(word: u64) -> Option<Self> {
        match word {
            0..ADDRESS_END => Some(Self::Address),
            BITS_START..COUNT_START => Some(Self::Bits),
            COUNT_START.. => Some(Self::Count),
            _ => None,
        }
    }
}
