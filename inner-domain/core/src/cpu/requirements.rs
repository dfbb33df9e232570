// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a CPU must offer, read off its ID registers, said in plain words when it is missing.
//!
//! A VA range of 48 bits with the 4 KiB granule needs no check of its own: every implementation
//! that has the granule has it (Arm DDI 0487, D8.2.3: T1SZ of 16 is always supported), and
//! ID_AA64MMFR2_EL1.VARange tells only of more.

use core::fmt;

use donjon_abi::tcr::PHYSICAL_ADDRESS_BITS;

/// Something that this CPU lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmet {
    /// No 4 KiB granule at stage 1.
    Granule {
        /// ID_AA64MMFR0_EL1.TGran4.
        field: u8,
    },
    /// Too few physical address bits.
    PhysicalAddress {
        /// Bits that there are.
        bits: u32,
    },
    /// ASIDs of another size than 16 bits.
    Asid {
        /// ID_AA64MMFR0_EL1.ASIDBits; 0 means 8 bits.
        field: u8,
    },
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Granule { field } => write!(
                f,
                "this CPU has no 4 KiB pages (ID_AA64MMFR0_EL1.TGran4 is {field:#x}); Donjon \
                 needs them because both domains' tables are built of them"
            ),
            Self::PhysicalAddress { bits } => write!(
                f,
                "this CPU has {bits}-bit physical addresses; Donjon needs \
                 {PHYSICAL_ADDRESS_BITS}-bit ones because TCR_EL1.IPS is part of the one value \
                 that the gate compares"
            ),
            Self::Asid { field: 0 } => f.write_str(
                "this CPU has 8-bit ASIDs; Donjon needs 16-bit ones because TCR_EL1.AS must \
                 read back as the gate wrote it",
            ),
            Self::Asid { field } => write!(
                f,
                "this CPU has ASIDs of an unknown size (ID_AA64MMFR0_EL1.ASIDBits is \
                 {field:#x}); Donjon needs 16-bit ones because TCR_EL1.AS must read back as the \
                 gate wrote it"
            ),
        }
    }
}

/// Bits of a physical address for ID_AA64MMFR0_EL1.PARange. A value that the manual still
/// reserves counts as the largest one known: the field only grows (D24.1.3).
const fn physical_bits(field: u8) -> u32 {
    match field {
        0 => 32,
        1 => 36,
        2 => 40,
        3 => 42,
        4 => 44,
        5 => 48,
        6 => 52,
        _ => 56,
    }
}

/// What a CPU with this ID_AA64MMFR0_EL1 lacks; nothing when Donjon can run on it.
pub fn unmet(id_aa64mmfr0_el1: u64) -> impl Iterator<Item = Unmet> {
    let field = |shift: u32| (id_aa64mmfr0_el1 >> shift) as u8 & 0xf;
    // TGran4 is signed: 0b1111 means none, 0 and above that there is one.
    let granule = field(28);
    let bits = physical_bits(field(0));
    let asid = field(4);
    [
        (granule >= 8).then_some(Unmet::Granule { field: granule }),
        (bits < PHYSICAL_ADDRESS_BITS).then_some(Unmet::PhysicalAddress { bits }),
        (asid != 0b0010).then_some(Unmet::Asid { field: asid }),
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    #[test]
    fn the_supported_cores_have_everything() {
        // Cortex-A53, Cortex-A57, Cortex-A76, and a 52-bit CPU with LPA2.
        for register in [0x1122, 0x1124, 0x10_1122, 0x1000_1126] {
            assert_eq!(unmet(register).count(), 0, "{register:#x}");
        }
    }

    #[test]
    fn each_lack_is_named() {
        let messages = |register| unmet(register).map(|it| it.to_string()).collect::<Vec<_>>();
        let eight = messages(0x1102);
        assert_eq!(eight.len(), 1);
        assert!(eight[0].starts_with("this CPU has 8-bit ASIDs; Donjon needs 16-bit ones"));
        assert!(messages(0x1121)[0].contains("36-bit physical addresses"));
        assert!(messages(0xf000_1122)[0].contains("4 KiB"));
        assert_eq!(messages(0xf000_0010).len(), 3);
    }
}
