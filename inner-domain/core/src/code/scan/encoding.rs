// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sixteen bits that name a system register or instruction.

use core::fmt;

/// (op0, op1, CRn, CRm, op2), bits 20 to 5 of the word (DDI 0487, C4.1, "System instruction" and
/// "System register move").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Encoding(u16);

impl Encoding {
    /// Makes an encoding of its parts; `None` if one has more bits than its field.
    pub const fn new(op0: u16, op1: u16, crn: u16, crm: u16, op2: u16) -> Option<Self> {
        if op0 < 4 && op1 < 8 && crn < 16 && crm < 16 && op2 < 8 {
            Some(Self(op0 << 14 | op1 << 11 | crn << 7 | crm << 3 | op2))
        } else {
            None
        }
    }

    /// Reads a word of the System instruction space.
    pub(super) const fn of(word: u32) -> Self {
        // The cast keeps the sixteen bits that are wanted.
        Self((word >> 5) as u16)
    }

    /// All parts as one number, ordered by op0, op1, CRn, CRm, op2.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// 0: hints, barriers and PSTATE; 1: SYS; 2 and 3: registers.
    pub const fn op0(self) -> u16 {
        self.0 >> 14
    }

    /// Mostly the exception level: 0 to 2 EL1, 3 EL0, 4 and 5 EL2, 6 EL3.
    pub const fn op1(self) -> u16 {
        self.0 >> 11 & 0b111
    }

    /// The group of registers.
    pub const fn crn(self) -> u16 {
        self.0 >> 7 & 0b1111
    }

    pub(super) const fn crm(self) -> usize {
        (self.0 >> 3 & 0b1111) as usize
    }

    pub(super) const fn op2(self) -> u16 {
        self.0 & 0b111
    }

    /// (op0, op1, CRn) as an index.
    pub(super) const fn row(self) -> usize {
        (self.0 >> 7) as usize
    }

    /// Has the word that this was taken from the register field that the encoding asks for?
    /// With op0 = 0 it is 31, but for WFET and WFIT (CRn = 1), which take a register.
    pub(super) const fn is_complete(self, word: u32) -> bool {
        self.op0() != 0 || word & 31 == 31 || self.crn() == 1
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "S{}_{}_C{}_C{}_{}",
            self.op0(),
            self.op1(),
            self.crn(),
            self.crm(),
            self.op2()
        )
    }
}
