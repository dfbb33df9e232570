// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets of general registers.

/// A set of the registers x0 to x30. Number 31 is the zero register or the stack pointer, and in no
/// set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers(u32);

impl Registers {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// Returns the set of one register, given by its number in a field of 5 bits.
    pub const fn of(number: u32) -> Self {
        if number < 31 {
            Self(1 << number)
        } else {
            Self(0)
        }
    }

    /// Returns the set of the registers from `first` to `last`.
    pub const fn range(first: u32, last: u32) -> Self {
        let mut set = Self(0);
        let mut number = first;
        while number <= last {
            set = set.and(Self::of(number));
            number += 1;
        }
        set
    }

    /// Returns the set of what is in one of two sets.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Says whether a register is in the set.
    pub const fn has(self, number: u32) -> bool {
        number < 31 && self.0 & 1 << number != 0
    }

    /// Says whether two sets have a register in common.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Lists the numbers of the registers.
    pub fn numbers(self) -> impl Iterator<Item = u32> {
        (0..31).filter(move |&it| self.has(it))
    }
}
