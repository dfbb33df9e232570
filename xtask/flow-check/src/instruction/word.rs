// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fields of an instruction's word.

/// The word of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(pub u32);

impl Word {
    /// Returns the field from bit `high` down to bit `low`.
    pub const fn bits(self, high: u32, low: u32) -> u32 {
        (self.0 >> low) & (u32::MAX >> (31 - (high - low)))
    }

    /// Returns the field from bit `high` down to bit `low` as a number with a sign.
    pub const fn signed(self, high: u32, low: u32) -> i64 {
        let bits = high - low + 1;
        let value = self.bits(high, low) as i64;
        if value >> (bits - 1) != 0 {
            value - (1 << bits)
        } else {
            value
        }
    }

    /// Returns one bit.
    pub const fn bit(self, number: u32) -> bool {
        self.0 >> number & 1 != 0
    }

    /// Returns the field at bit 0, which often is the register that is written.
    pub const fn d(self) -> u32 {
        self.bits(4, 0)
    }

    /// Returns the field at bit 5, which often is the first operand or the base.
    pub const fn n(self) -> u32 {
        self.bits(9, 5)
    }

    /// Returns the field at bit 10, which often is the third operand.
    pub const fn a(self) -> u32 {
        self.bits(14, 10)
    }

    /// Returns the field at bit 16, which often is the second operand.
    pub const fn m(self) -> u32 {
        self.bits(20, 16)
    }
}
