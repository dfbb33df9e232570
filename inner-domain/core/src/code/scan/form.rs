// SPDX-License-Identifier: MIT OR Apache-2.0
//! The forms of instructions in the space that the scanner decides about.

/// What bits 24 to 21 say of a word in the space.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// SVC, HVC, SMC, BRK, HLT, TCANCEL, DCPS.
    Exception,
    /// MSR, SYS, hints, barriers, fields of PSTATE.
    Write,
    /// MRS, SYSL.
    Read,
    /// MSRR, SYSP.
    WritePair,
    /// MRRS.
    ReadPair,
    /// Not given out.
    Reserved,
}

impl Form {
    /// The form of a word of the space.
    pub const fn of(word: u32) -> Self {
        match word >> 21 & 0b1111 {
            0b0000..=0b0111 => Self::Exception,
            0b1000 => Self::Write,
            0b1001 => Self::Read,
            0b1010 => Self::WritePair,
            0b1011 => Self::ReadPair,
            _ => Self::Reserved,
        }
    }
}
