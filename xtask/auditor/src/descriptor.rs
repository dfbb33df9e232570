// SPDX-License-Identifier: MIT OR Apache-2.0
//! Translation table entries as the hardware reads them: 4 KiB granule, 48-bit addresses
//! (Arm DDI 0487, D8.3).

/// Bytes of a page and of a table.
pub const PAGE: u64 = 4096;
/// Entries of a table.
pub const ENTRIES: u64 = 512;

/// Bits 47 to 12.
const ADDRESS: u64 = 0x0000_ffff_ffff_f000;

/// log2 of the bytes that one entry of a table of `level` spans.
pub const fn shift(level: u8) -> u32 {
    39 - 9 * level as u32
}

/// What an entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing: a walk faults.
    Invalid,
    /// The next table is at this physical address.
    Table(u64),
    /// A block or page at this physical address.
    Leaf(u64),
}

/// Reads the entry `raw` of a table of `level`.
pub const fn read(raw: u64, level: u8) -> Entry {
    match (raw & 0b11, level) {
        (0b11, 0..=2) => Entry::Table(raw & ADDRESS),
        (0b11, 3) => Entry::Leaf(raw & ADDRESS),
        (0b01, 1 | 2) => Entry::Leaf(raw & ADDRESS & !((1 << shift(level)) - 1)),
        _ => Entry::Invalid,
    }
}

/// The lower attributes and permissions of a leaf. Only the leaf's own bits count: what upper
/// levels take away can be switched off (TCR_EL1.HPD).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes(pub u64);

impl Attributes {
    const fn bit(self, number: u32) -> bool {
        self.0 >> number & 1 == 1
    }

    /// Whether a store can succeed: AP\[2\] is 0, or DBM lets the hardware clear it.
    pub const fn writable(self) -> bool {
        !self.bit(7) || self.bit(51)
    }

    /// Whether EL0 has access: AP\[1\].
    pub const fn user(self) -> bool {
        self.bit(6)
    }

    /// Whether EL1 can fetch: PXN is 0.
    pub const fn executable_at_el1(self) -> bool {
        !self.bit(53)
    }

    /// Whether EL0 can fetch: UXN is 0 and it has access.
    pub const fn executable_at_el0(self) -> bool {
        !self.bit(54) && self.user()
    }

    /// nG is 0.
    pub const fn global(self) -> bool {
        !self.bit(11)
    }

    /// The contiguous hint.
    pub const fn contiguous(self) -> bool {
        self.bit(52)
    }

    /// AttrIndx.
    pub const fn memory_index(self) -> u32 {
        (self.0 >> 2 & 7) as u32
    }

    /// SH.
    pub const fn shareability(self) -> u64 {
        self.0 >> 8 & 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_is_read_as_the_hardware_reads_it() {
        assert_eq!(read(0, 2), Entry::Invalid);
        assert_eq!(read(0x1002, 3), Entry::Invalid);
        assert_eq!(read(0x1001, 3), Entry::Invalid);
        assert_eq!(read(0x8000_0001, 0), Entry::Invalid);
        assert_eq!(read(0x1003, 3), Entry::Leaf(0x1000));
        assert_eq!(read(0x1003, 2), Entry::Table(0x1000));
        assert_eq!(read(0x0040_1f01, 2), Entry::Leaf(0x0040_0000));
    }

    #[test]
    fn dirty_bit_management_makes_a_leaf_writable() {
        assert!(!Attributes(1 << 7).writable());
        assert!(Attributes(1 << 7 | 1 << 51).writable());
        assert!(Attributes(0).writable());
    }
}
