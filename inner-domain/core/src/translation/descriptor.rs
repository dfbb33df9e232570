// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stage 1 descriptors of the 4 KiB granule: decoded once, encoded in one place.
//!
//! Formats: Arm DDI 0487, D8.3.1 (table, block and page descriptors) and D8.3.2 (attribute
//! fields), without LPA2, which no supported configuration turns on.

use bitflags::bitflags;
use donjon_abi::tcr::{MAIR_DEVICE, MAIR_NORMAL};

use crate::checks::{Checks, Configured};
use crate::translation::address::{Level, PhysicalAddress};

/// Bit 0: the entry takes part in translation.
const VALID: u64 = 1 << 0;
/// Bit 1: a table at levels 0 to 2, a page at level 3.
const TABLE_OR_PAGE: u64 = 1 << 1;
/// Bits 47 to 12: output address of a page, address of the next table.
const ADDRESS: u64 = 0x0000_ffff_ffff_f000;

bitflags! {
    /// All bits of a valid descriptor besides its type and address.
    ///
    /// Unnamed bits are kept as they were read, so that a rule can refuse what it does not know.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Attributes: u64 {
        /// AP\[1\]: EL0 may access.
        const EL0 = 1 << 6;
        /// AP\[2\]: read-only.
        const READ_ONLY = 1 << 7;
        /// SH = 0b11: inner shareable.
        const INNER_SHAREABLE = 0b11 << 8;
        /// AF: accessed; an access while it is 0 faults.
        const ACCESSED = 1 << 10;
        /// nG: the TLB entry belongs to one ASID.
        const NON_GLOBAL = 1 << 11;
        /// DBM: with hardware management of dirty state, read-only means writable-clean.
        const DIRTY_BIT_MODIFIER = 1 << 51;
        /// Contiguous: one of a group that the TLB may hold as one entry.
        const CONTIGUOUS = 1 << 52;
        /// PXN: not executable at EL1.
        const PRIVILEGED_EXECUTE_NEVER = 1 << 53;
        /// UXN: not executable at EL0.
        const UNPRIVILEGED_EXECUTE_NEVER = 1 << 54;
        /// Everything else, by number only.
        const _ = !0;
    }
}

impl Attributes {
    /// Position of AttrIndx, the index into MAIR_EL1.
    const MEMORY_SHIFT: u32 = 2;

    /// A set that only names MAIR_EL1 attribute `index` (0 to 7).
    const fn memory(index: u32) -> Self {
        Self::from_bits_retain((index as u64 & 7) << Self::MEMORY_SHIFT)
    }

    /// The MAIR_EL1 attribute that the descriptor names, 0 to 7.
    pub const fn memory_index(self) -> u32 {
        (self.bits() >> Self::MEMORY_SHIFT) as u32 & 7
    }
}

/// What an entry of a table is, seen from the level of that table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// Does not translate; the other bits are software's.
    Invalid,
    /// Leads to a table of the next level.
    Table {
        /// The next table.
        next: PhysicalAddress,
        /// Hierarchical and ignored bits; we write none.
        attributes: Attributes,
    },
    /// Maps a block of 1 GiB (level 1) or 2 MiB (level 2).
    Block {
        /// First byte of the block.
        output: PhysicalAddress,
        /// Permissions and memory type.
        attributes: Attributes,
    },
    /// Maps a page (level 3).
    Page {
        /// First byte of the page.
        output: PhysicalAddress,
        /// Permissions and memory type.
        attributes: Attributes,
    },
}

/// Output address bits of a leaf of `level`.
const fn leaf_address(level: Level) -> u64 {
    ADDRESS & !(level.size() - 1)
}

impl Descriptor {
    /// A table descriptor without hierarchical bits.
    pub const fn table(next: PhysicalAddress) -> Self {
        Self::Table {
            next,
            attributes: Attributes::empty(),
        }
    }

    /// The leaf of `level` that maps `output` as `kind`; none at level 0, which has no leaves, or
    /// for an output address that is not aligned to the leaf.
    pub const fn leaf(level: Level, output: PhysicalAddress, kind: MappingKind) -> Option<Self> {
        if !output.is_aligned(level.size()) {
            return None;
        }
        let attributes = kind.attributes();
        match level {
            Level::Zero => None,
            Level::One | Level::Two => Some(Self::Block { output, attributes }),
            Level::Three => Some(Self::Page { output, attributes }),
        }
    }

    /// What `raw` means in a table of `level`. The encodings 0b01 at level 0 and at level 3 are
    /// reserved and translate as invalid (D8.3.1).
    pub const fn decode(raw: u64, level: Level) -> Self {
        if raw & VALID == 0 {
            return Self::Invalid;
        }
        let kind = raw & (VALID | TABLE_OR_PAGE);
        match (level, kind == VALID | TABLE_OR_PAGE) {
            (Level::Zero | Level::One | Level::Two, true) => Self::Table {
                next: PhysicalAddress::from_field(raw, ADDRESS),
                attributes: Attributes::from_bits_retain(raw & !ADDRESS & !kind),
            },
            (Level::One | Level::Two, false) => Self::Block {
                output: PhysicalAddress::from_field(raw, leaf_address(level)),
                attributes: Attributes::from_bits_retain(raw & !leaf_address(level) & !kind),
            },
            (Level::Three, true) => Self::Page {
                output: PhysicalAddress::from_field(raw, ADDRESS),
                attributes: Attributes::from_bits_retain(raw & !ADDRESS & !kind),
            },
            (Level::Zero | Level::Three, false) => Self::Invalid,
        }
    }

    /// The descriptor as the table walk reads it. The inverse of [`decode`](Self::decode) for
    /// every valid value; an invalid one becomes 0.
    pub const fn encode(self) -> u64 {
        match self {
            Self::Invalid => 0,
            Self::Table { next, attributes } => {
                next.as_u64() | attributes.bits() | VALID | TABLE_OR_PAGE
            }
            Self::Block { output, attributes } => output.as_u64() | attributes.bits() | VALID,
            Self::Page { output, attributes } => {
                output.as_u64() | attributes.bits() | VALID | TABLE_OR_PAGE
            }
        }
    }
}

/// What the inner domain maps memory as. Nothing else exists in its half.
///
/// Every inner-only kind is non-global: on a TLB hit the ASID alone keeps the outer domain out.
/// Only the gate, which both views need, is global. Nothing is executable or accessible at EL0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingKind {
    /// Inner code: read-only, executable at EL1.
    InnerText,
    /// Inner constants: read-only, never executable.
    InnerReadOnly,
    /// Inner data: writable, never executable.
    InnerData,
    /// Registers of a device: writable, never executable, not cached, not reordered.
    InnerDevice,
    /// The gate: read-only, executable at EL1, the same in both views.
    GateText,
}

impl MappingKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::InnerText,
        Self::InnerReadOnly,
        Self::InnerData,
        Self::InnerDevice,
        Self::GateText,
    ];

    /// The attribute bits of a leaf of this kind.
    pub const fn attributes(self) -> Attributes {
        let normal = Attributes::memory(MAIR_NORMAL)
            .union(Attributes::INNER_SHAREABLE)
            .union(Attributes::ACCESSED)
            .union(Attributes::UNPRIVILEGED_EXECUTE_NEVER);
        let device = Attributes::memory(MAIR_DEVICE)
            .union(Attributes::ACCESSED)
            .union(Attributes::UNPRIVILEGED_EXECUTE_NEVER);
        let inner = if Configured::NOT_GLOBAL.is_in_code() {
            Attributes::NON_GLOBAL
        } else {
            Attributes::empty()
        };
        let read_only = Attributes::READ_ONLY;
        let never = Attributes::PRIVILEGED_EXECUTE_NEVER;
        match self {
            Self::InnerText => normal.union(inner).union(read_only),
            Self::InnerReadOnly => normal.union(inner).union(read_only).union(never),
            Self::InnerData => normal.union(inner).union(never),
            Self::InnerDevice => device.union(inner).union(never),
            Self::GateText => normal.union(read_only),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LEVELS: [Level; 4] = [Level::Zero, Level::One, Level::Two, Level::Three];

    fn page(kind: MappingKind) -> u64 {
        let output = PhysicalAddress::new(0x12_3456_7000).expect("48 bits");
        let leaf = Descriptor::leaf(Level::Three, output, kind);
        leaf.expect("aligned").encode()
    }

    #[test]
    fn kinds_have_the_encodings_of_the_manual() {
        // UXN, PXN | address | nG, AF, SH, AP, AttrIndx, type.
        assert_eq!(page(MappingKind::InnerText), 0x0040_0012_3456_7f83);
        assert_eq!(page(MappingKind::InnerReadOnly), 0x0060_0012_3456_7f83);
        assert_eq!(page(MappingKind::InnerData), 0x0060_0012_3456_7f03);
        assert_eq!(page(MappingKind::InnerDevice), 0x0060_0012_3456_7c0f);
        assert_eq!(page(MappingKind::GateText), 0x0040_0012_3456_7783);
    }

    #[test]
    fn nothing_is_open_to_el0_and_nothing_is_both_writable_and_executable() {
        for kind in MappingKind::ALL {
            let bits = kind.attributes();
            assert!(!bits.contains(Attributes::EL0));
            assert!(bits.contains(Attributes::UNPRIVILEGED_EXECUTE_NEVER | Attributes::ACCESSED));
            assert!(!bits.intersects(Attributes::CONTIGUOUS | Attributes::DIRTY_BIT_MODIFIER));
            assert!(
                bits.intersects(Attributes::READ_ONLY | Attributes::PRIVILEGED_EXECUTE_NEVER),
                "{kind:?} is writable and executable"
            );
            let global = !bits.contains(Attributes::NON_GLOBAL);
            assert_eq!(global, kind == MappingKind::GateText);
        }
    }

    #[test]
    fn reserved_encodings_are_invalid() {
        assert_eq!(Descriptor::decode(0x1001, Level::Zero), Descriptor::Invalid);
        assert_eq!(
            Descriptor::decode(0x1001, Level::Three),
            Descriptor::Invalid
        );
    }

    #[test]
    fn leaves_are_aligned_to_their_size() {
        let megabyte = PhysicalAddress::new(1 << 20).expect("48 bits");
        assert_eq!(
            Descriptor::leaf(Level::Two, megabyte, MappingKind::InnerData),
            None
        );
        let zero = PhysicalAddress::new(0).expect("48 bits");
        assert_eq!(
            Descriptor::leaf(Level::Zero, zero, MappingKind::InnerData),
            None
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 16 } else { 512 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn valid_descriptors_survive_decoding_and_encoding(raw: u64, level in 0..4_usize) {
            let level = LEVELS[level];
            let decoded = Descriptor::decode(raw, level);
            if decoded == Descriptor::Invalid {
                prop_assert_eq!(decoded.encode(), 0);
            } else {
                prop_assert_eq!(decoded.encode(), raw);
            }
        }
    }
}
