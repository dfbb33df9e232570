// SPDX-License-Identifier: MIT OR Apache-2.0
//! General registers.

use std::ops::BitOr;

/// The link register's number.
pub const LINK: u8 = 30;

/// A set of general registers. Bit N is xN, wN among it; the stack pointer is no member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers(pub u32);

/// The registers that programs must not use, x22 to x28.
pub const RESERVED: Registers = Registers(0x7f << 22);

impl Registers {
    /// Makes the set of one register.
    pub const fn one(number: u8) -> Self {
        Self(1 << number)
    }

    /// Tells whether a register is a member.
    pub const fn has(self, number: u8) -> bool {
        self.0 >> number & 1 == 1
    }

    /// Tells whether two sets share a register.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Registers {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Finds the number of a general register, and whether it is named with all its 64 bits.
pub fn number(text: &str) -> Option<(u8, bool)> {
    let text = text.to_ascii_lowercase();
    match text.as_str() {
        "lr" => return Some((LINK, true)),
        "fp" => return Some((29, true)),
        "ip0" => return Some((16, true)),
        "ip1" => return Some((17, true)),
        _ => {}
    }
    let digits = text.strip_prefix(['x', 'w'])?;
    let is_number = digits.bytes().all(|it| it.is_ascii_digit());
    let found: u8 = digits.parse().ok().filter(|_| is_number)?;
    (found <= LINK).then_some((found, text.starts_with('x')))
}

/// Names a register: all its 64 bits, or the lower half.
pub fn name(number: u8, is_wide: bool) -> String {
    format!("{}{number}", if is_wide { 'x' } else { 'w' })
}
