// SPDX-License-Identifier: MIT OR Apache-2.0
//! Addresses and table levels as types, so that one kind cannot stand in for the others.

use core::fmt;

use donjon_abi::layout::PAGE_SIZE;

/// Entries of a translation table with the 4 KiB granule.
pub const ENTRIES: usize = 512;

/// Physical address bits that a descriptor holds without LPA2 (Arm DDI 0487, D8.3.1).
const PHYSICAL_BITS: u32 = 48;
/// Bits of the upper VA range that the inner view resolves.
const VIRTUAL_BITS: u32 = 48;
/// Bits 63 to 48, all ones in every address of the upper range.
const UPPER: u64 = !((1 << VIRTUAL_BITS) - 1);

/// A level of the translation tables, numbered as in Arm DDI 0487, D8.2: a lookup with the
/// 4 KiB granule and 48 bits starts at level 0 and ends at level 3 at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Level {
    /// The root: 512 GiB per entry, tables only.
    Zero = 0,
    /// 1 GiB per entry.
    One = 1,
    /// 2 MiB per entry.
    Two = 2,
    /// 4 KiB per entry, pages only.
    Three = 3,
}

impl Level {
    /// The level's number.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Position of the lowest VA bit that indexes a table of this level (D8.2.7).
    pub const fn shift(self) -> u32 {
        12 + 9 * (3 - self as u32)
    }

    /// Bytes that one entry of this level spans.
    pub const fn size(self) -> u64 {
        1 << self.shift()
    }

    /// The level that a table descriptor of this level leads to; none from level 3.
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::Zero => Some(Self::One),
            Self::One => Some(Self::Two),
            Self::Two => Some(Self::Three),
            Self::Three => None,
        }
    }
}

/// A physical address of at most 48 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhysicalAddress(u64);

impl PhysicalAddress {
    /// The first address.
    pub(crate) const ZERO: Self = Self(0);

    /// Checks that `address` has at most 48 bits.
    pub const fn new(address: u64) -> Option<Self> {
        if address >> PHYSICAL_BITS == 0 {
            Some(Self(address))
        } else {
            None
        }
    }

    /// The address that a descriptor's output address field holds. The mask keeps the caller's
    /// bits within 48, so this cannot fail.
    pub(crate) const fn from_field(raw: u64, mask: u64) -> Self {
        Self(raw & mask & ((1 << PHYSICAL_BITS) - 1))
    }

    /// The address as a number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// Whether the address is a multiple of `alignment`, a power of two.
    pub const fn is_aligned(self, alignment: u64) -> bool {
        self.0 & (alignment - 1) == 0
    }

    /// Whether the address begins a page.
    pub const fn is_page(self) -> bool {
        self.is_aligned(PAGE_SIZE)
    }

    /// The address `bytes` further on, at most one past the frame that this one is in.
    pub(crate) const fn within(self, bytes: u64) -> Self {
        Self(self.0 + bytes)
    }

    /// The address `bytes` further on, if it still has at most 48 bits.
    pub const fn checked_add(self, bytes: u64) -> Option<Self> {
        match self.0.checked_add(bytes) {
            Some(sum) => Self::new(sum),
            None => None,
        }
    }
}

impl fmt::Debug for PhysicalAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PA {:#x}", self.0)
    }
}

impl fmt::Display for PhysicalAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// A virtual address of the upper range as the inner view sees it: bits 63 to 48 are ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VirtualAddress(u64);

impl VirtualAddress {
    /// The first address of the upper range that the outer view resolves: it has 47 bits.
    pub(crate) const OUTER: Self = Self(u64::MAX << (VIRTUAL_BITS - 1));
    /// Stands where no address is: the one value whose bits 63 to 48 are zeros.
    pub(crate) const NONE: Self = Self(0);

    /// Checks that bits 63 to 48 of `address` are ones.
    pub const fn new(address: u64) -> Option<Self> {
        if address & UPPER == UPPER {
            Some(Self(address))
        } else {
            None
        }
    }

    /// The address as a number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// Whether the address is a multiple of `alignment`, a power of two.
    pub const fn is_aligned(self, alignment: u64) -> bool {
        self.0 & (alignment - 1) == 0
    }

    /// The address `bytes` further on, if the range does not end before it.
    pub const fn checked_add(self, bytes: u64) -> Option<Self> {
        match self.0.checked_add(bytes) {
            Some(sum) => Self::new(sum),
            None => None,
        }
    }

    /// Index of the entry that translates this address in its table of `level`, 0 to 511.
    pub const fn index(self, level: Level) -> usize {
        (self.0 >> level.shift()) as usize % ENTRIES
    }

    /// The first address that the entry with `index` translates in a table of `level`, which
    /// translates the addresses from this one on.
    pub(crate) const fn of_entry(self, level: Level, index: usize) -> Self {
        Self(self.0 + ((index as u64) << level.shift()))
    }
}

/// A virtual address of the lower range, of at most 48 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct UserAddress(u64);

impl UserAddress {
    /// One past the last address.
    pub const END: u64 = 1 << VIRTUAL_BITS;

    /// The first address.
    pub const ZERO: Self = Self(0);

    /// None from [`END`](Self::END) on.
    #[inline(always)]
    pub const fn new(address: u64) -> Option<Self> {
        if address < Self::END {
            Some(Self(address))
        } else {
            None
        }
    }

    /// The address as a number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// Whether the address is a multiple of `alignment`, a power of two.
    pub const fn is_aligned(self, alignment: u64) -> bool {
        self.0 & (alignment - 1) == 0
    }

    /// The first address that has one entry of `level` with this one.
    pub const fn first_of(self, level: Level) -> Self {
        Self(self.0 & !(level.size() - 1))
    }

    /// One past the last address that has one entry of `level` with this one, at most
    /// [`END`](Self::END).
    pub const fn end_of(self, level: Level) -> u64 {
        (self.0 | (level.size() - 1)) + 1
    }

    /// The address of the page `count` pages further on. The caller knows that it is in the range.
    pub const fn after(self, count: u64) -> Self {
        Self(self.0 + count * PAGE_SIZE)
    }

    /// Index of the entry that translates this address in its table of `level`, 0 to 511.
    pub const fn index(self, level: Level) -> usize {
        (self.0 >> level.shift()) as usize % ENTRIES
    }

    /// The first address of the entry with `index` in the table that translates this address,
    /// whose entries span 2^`shift` bytes.
    pub(crate) const fn with_index(self, shift: u32, index: u64) -> Self {
        Self(self.0 >> (shift + 9) << (shift + 9) | index << shift)
    }
}

impl fmt::Debug for VirtualAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VA {:#x}", self.0)
    }
}

impl fmt::Display for VirtualAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use donjon_abi::layout;

    #[test]
    fn physical_addresses_have_48_bits() {
        assert!(PhysicalAddress::new((1 << 48) - 1).is_some());
        assert!(PhysicalAddress::new(1 << 48).is_none());
        let last = PhysicalAddress::new((1 << 48) - 1).expect("48 bits");
        assert_eq!(last.checked_add(1), None);
        assert_eq!(last.checked_add(u64::MAX), None);
    }

    #[test]
    fn virtual_addresses_belong_to_the_upper_range() {
        assert!(VirtualAddress::new(0xffff_0000_0000_0000).is_some());
        assert!(VirtualAddress::new(0xfffe_ffff_ffff_ffff).is_none());
        assert!(VirtualAddress::new(0).is_none());
        let last = VirtualAddress::new(u64::MAX).expect("canonical");
        assert_eq!(last.checked_add(1), None);
    }

    #[test]
    fn slots_stand_in_the_upper_half_of_the_root() {
        for (address, slot) in [
            (layout::PHYSMAP, layout::PHYSMAP_SLOT),
            (layout::TEXT_WINDOW, layout::INNER_SLOT),
            (layout::GATE, layout::GATE_SLOT),
        ] {
            let address = VirtualAddress::new(address).expect("canonical");
            assert_eq!(address.index(Level::Zero), layout::ROOT_HALF + slot);
        }
    }

    #[test]
    fn indices_split_the_address_into_nines() {
        let address = 0xffff_8000_0000_0000 | 3 << 39 | 5 << 30 | 7 << 21 | 9 << 12;
        let address = VirtualAddress::new(address).expect("canonical");
        let all = [Level::Zero, Level::One, Level::Two, Level::Three];
        assert_eq!(all.map(|level| address.index(level)), [256 + 3, 5, 7, 9]);
        assert_eq!(
            all.map(Level::size),
            [512 << 30, 1 << 30, 2 << 20, 4096],
            "sizes"
        );
        assert_eq!(Level::Three.next(), None);
    }
}
