// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which registers every CPU has alike after the hand-over, and which may differ between CPUs.
//!
//! A machine may have cores of several types (Juno: Cortex-A57 and Cortex-A53). What a core says
//! about itself (MIDR_EL1, ID_AA64MMFR0_EL1) may differ, as long as each has what Donjon needs.
//! What decides how the shared tables are read, and where an exception goes, may not.

use core::fmt;

use crate::cpu::extensions::{self, Extension};
use crate::cpu::requirements::{self, Unmet};

/// What is the same on every CPU from the hand-over on, `TCR_EL1` aside, which is a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranslationRegisters {
    /// `SCTLR_EL1`.
    pub sctlr: u64,
    /// `VBAR_EL1`.
    pub vbar: u64,
    /// `MAIR_EL1`.
    pub mair: u64,
    /// `AMAIR_EL1`, which may add to what `MAIR_EL1` says.
    pub amair: u64,
    /// `TTBR1_EL1`.
    pub ttbr1: u64,
    /// The registers of newer architectures, all of them zero.
    pub extensions: extensions::Values,
}

impl TranslationRegisters {
    /// The registers that are compared with the record of the hand-over, by name.
    const fn named(&self) -> [(&'static str, u64); 5] {
        [
            ("SCTLR_EL1", self.sctlr),
            ("VBAR_EL1", self.vbar),
            ("MAIR_EL1", self.mair),
            ("AMAIR_EL1", self.amair),
            ("TTBR1_EL1", self.ttbr1),
        ]
    }
}

/// Why a CPU may not run after the hand-over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The core lacks a feature that is required.
    Lacks(Unmet),
    /// A register of a newer architecture is not zero.
    Opened(Extension, u64),
    /// A register has another value than at the hand-over.
    Register {
        /// Name of the register.
        name: &'static str,
        /// What this CPU has.
        here: u64,
        /// What was recorded.
        recorded: u64,
    },
    /// `TTBR1_EL1` is not the inner domain's root.
    Root(u64),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lacks(unmet) => unmet.fmt(f),
            Self::Opened(register, value) => {
                write!(f, "{} is {value:#x}, not 0", register.name())
            }
            Self::Register {
                name,
                here,
                recorded,
            } => write!(
                f,
                "{name} is {here:#x}, and was {recorded:#x} at the hand-over"
            ),
            Self::Root(value) => write!(f, "TTBR1_EL1 is {value:#x}, not the root of all CPUs"),
        }
    }
}

/// Compares a CPU with the record of the hand-over. The CPU has the registers `here` and says
/// `id_aa64mmfr0_el1` about itself; `root` is the `TTBR1_EL1` of all CPUs.
///
/// # Errors
///
/// The first difference that Donjon does not allow.
pub fn compare(
    recorded: &TranslationRegisters,
    here: &TranslationRegisters,
    id_aa64mmfr0_el1: u64,
    root: u64,
) -> Result<(), Difference> {
    if let Some(unmet) = requirements::unmet(id_aa64mmfr0_el1).next() {
        return Err(Difference::Lacks(unmet));
    }
    if let Some((register, value)) = extensions::opened(&here.extensions) {
        return Err(Difference::Opened(register, value));
    }
    for ((name, here), (_, recorded)) in here.named().into_iter().zip(recorded.named()) {
        if here != recorded {
            return Err(Difference::Register {
                name,
                here,
                recorded,
            });
        }
    }
    if here.ttbr1 != root {
        return Err(Difference::Root(here.ttbr1));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    const ROOT: u64 = 0x4123_1000;
    /// ID_AA64MMFR0_EL1 of a Cortex-A57 and of a Cortex-A53: 44 and 40 bits of physical address.
    const A57: u64 = 0x1124;
    const A53: u64 = 0x1122;

    const RECORDED: TranslationRegisters = TranslationRegisters {
        sctlr: 0x30d0_198d,
        vbar: 0xffff_8000_8001_0800,
        mair: 0x4_4400_ffff,
        amair: 0,
        ttbr1: ROOT,
        extensions: [0; extensions::COUNT],
    };

    #[test]
    fn cores_of_two_types_run_together() {
        for features in [A57, A53] {
            assert_eq!(compare(&RECORDED, &RECORDED, features, ROOT), Ok(()));
        }
    }

    #[test]
    fn a_core_that_lacks_something_is_refused_whatever_its_registers_are() {
        let eight_bits = 0x1102;
        let found = compare(&RECORDED, &RECORDED, eight_bits, ROOT);
        let unmet = Unmet::Asid { field: 0 };
        assert_eq!(found, Err(Difference::Lacks(unmet)));
        assert_eq!(Difference::Lacks(unmet).to_string(), unmet.to_string());
    }

    #[test]
    fn each_bit_of_each_compared_register_counts() {
        let fields: [fn(&mut TranslationRegisters) -> &mut u64; 5] = [
            |it| &mut it.sctlr,
            |it| &mut it.vbar,
            |it| &mut it.mair,
            |it| &mut it.amair,
            |it| &mut it.ttbr1,
        ];
        let names = RECORDED.named().map(|it| it.0);
        for (field, name) in fields.into_iter().zip(names) {
            for bit in 0..64 {
                let mut changed = RECORDED;
                *field(&mut changed) ^= 1 << bit;
                let (here, recorded) = (*field(&mut changed), *field(&mut { RECORDED }));
                let found = compare(&RECORDED, &changed, A57, ROOT);
                let wanted = Difference::Register {
                    name,
                    here,
                    recorded,
                };
                assert_eq!(found, Err(wanted), "{name}, bit {bit}");
            }
        }
    }

    #[test]
    fn an_extension_that_only_one_type_has_must_be_off() {
        for (index, register) in Extension::ALL.into_iter().enumerate() {
            let mut here = RECORDED;
            here.extensions[index] = 1;
            let wanted = Difference::Opened(register, 1);
            assert_eq!(compare(&RECORDED, &here, A57, ROOT), Err(wanted));
            // A value that the first CPU had as well is no excuse.
            assert_eq!(compare(&here, &here, A57, ROOT), Err(wanted));
            assert!(wanted.to_string().starts_with(register.name()));
        }
    }

    #[test]
    fn the_same_wrong_root_everywhere_is_refused() {
        let other = ROOT + 0x1000;
        let found = compare(&RECORDED, &RECORDED, A57, other);
        assert_eq!(found, Err(Difference::Root(ROOT)));
    }
}
