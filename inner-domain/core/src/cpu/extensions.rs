// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers of newer architectures that give descriptors, ASIDs or masks another meaning: which
//! a CPU has, and that all of them are zero.
//!
//! A CPU says in ID_AA64MMFR3_EL1 which it has (Arm DDI 0487, D24.2). With TCR2_EL1 zero there
//! is no permission indirection and no overlay (PIE, POE, E0POE), no second ASID (A2), no 128-bit
//! descriptor (D128), and PIR_EL1, PIRE0_EL1 and POR_EL1 decide nothing. They are zero all the
//! same, so that what a CPU has there is one known value and can be compared.

/// A register of a newer architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// `TCR2_EL1`.
    Tcr2,
    /// `SCTLR2_EL1`.
    Sctlr2,
    /// `PIRE0_EL1`.
    Pire0,
    /// `PIR_EL1`.
    Pir,
    /// `POR_EL1`.
    Por,
}

/// Number of the registers.
pub const COUNT: usize = 5;

impl Extension {
    /// Every register, in the order of the declaration.
    pub const ALL: [Self; COUNT] = [Self::Tcr2, Self::Sctlr2, Self::Pire0, Self::Pir, Self::Por];

    /// Name of the register.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcr2 => "TCR2_EL1",
            Self::Sctlr2 => "SCTLR2_EL1",
            Self::Pire0 => "PIRE0_EL1",
            Self::Pir => "PIR_EL1",
            Self::Por => "POR_EL1",
        }
    }

    /// Lowest bit of the field of ID_AA64MMFR3_EL1 that tells of it: TCRX, SCTLRX, S1PIE, S1POE.
    const fn field(self) -> u32 {
        match self {
            Self::Tcr2 => 0,
            Self::Sctlr2 => 4,
            Self::Pire0 | Self::Pir => 8,
            Self::Por => 16,
        }
    }

    /// Whether a CPU with this ID_AA64MMFR3_EL1 has it.
    pub const fn exists(self, id_aa64mmfr3_el1: u64) -> bool {
        id_aa64mmfr3_el1 >> self.field() & 0xf != 0
    }
}

/// What they hold, in the order of [`Extension::ALL`]; zero where there is no such register.
pub type Values = [u64; COUNT];

/// The first register that is not zero, and its value.
pub fn opened(values: &Values) -> Option<(Extension, u64)> {
    let all = Extension::ALL.into_iter().zip(*values);
    all.into_iter().find(|(_, value)| *value != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn of(features: u64) -> Vec<&'static str> {
        let all = Extension::ALL.into_iter();
        all.filter(|it| it.exists(features))
            .map(Extension::name)
            .collect()
    }

    #[test]
    fn each_field_tells_of_its_registers() {
        assert!(of(0).is_empty());
        assert_eq!(of(0x1), ["TCR2_EL1"]);
        assert_eq!(of(0x10), ["SCTLR2_EL1"]);
        assert_eq!(of(0x100), ["PIRE0_EL1", "PIR_EL1"]);
        assert_eq!(of(0x1_0000), ["POR_EL1"]);
        assert_eq!(of(0x1_0111).len(), COUNT);
        // Stage 2, the extended attributes, memory encryption, 128-bit descriptors.
        assert!(of(0xffff_ffff_fff0_f000).is_empty());
    }

    #[test]
    fn what_is_not_zero_is_named() {
        assert_eq!(opened(&[0; COUNT]), None);
        for (index, register) in Extension::ALL.into_iter().enumerate() {
            let mut values = [0; COUNT];
            values[index] = 2;
            assert_eq!(opened(&values), Some((register, 2)));
        }
    }
}
