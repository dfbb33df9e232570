// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a refused word is, in the manual's words.

use core::fmt;

use super::encoding::Encoding;
use super::form::Form;
use super::names;

/// A refused instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// MSR of a register.
    Register(Encoding),
    /// MSRR: 128 bits at once.
    RegisterPair(Encoding),
    /// SYS: maintenance of caches, TLBs and more.
    System(Encoding),
    /// SYSP: the same with 128 bits of operand.
    SystemPair(Encoding),
    /// SYSL: a system instruction with a result.
    SystemResult(Encoding),
    /// MSR of a field of PSTATE.
    State(Encoding),
    /// A hint that has no meaning yet, or one without a use here.
    Hint(Encoding),
    /// A barrier, or something else in their space.
    Barrier(Encoding),
    /// An instruction that generates an exception or halts.
    Exception(Exception),
    /// The manual gives this word no meaning, so what it does is not known.
    Unallocated(u32),
}

/// Instructions that generate exceptions, by bits 23 to 21 and 4 to 0 of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exception {
    /// SVC, to EL1.
    Svc = 0b000_00001,
    /// HVC, to EL2.
    Hvc = 0b000_00010,
    /// SMC, to EL3.
    Smc = 0b000_00011,
    /// A breakpoint.
    Brk = 0b001_00000,
    /// Into Debug state; with semihosting, a call to the emulator or debugger.
    Hlt = 0b010_00000,
    /// Cancels a transaction.
    Tcancel = 0b011_00000,
    /// DCPS1, in Debug state, to EL1.
    Dcps1 = 0b101_00001,
    /// DCPS2, in Debug state, to EL2.
    Dcps2 = 0b101_00010,
    /// DCPS3, in Debug state, to EL3.
    Dcps3 = 0b101_00011,
}

impl Exception {
    /// Every instruction that generates an exception.
    pub const ALL: [Self; 9] = [
        Self::Svc,
        Self::Hvc,
        Self::Smc,
        Self::Brk,
        Self::Hlt,
        Self::Tcancel,
        Self::Dcps1,
        Self::Dcps2,
        Self::Dcps3,
    ];

    /// Reads a word of the exception-generating half.
    pub(super) fn of(word: u32) -> Option<Self> {
        // Both masks leave eight bits between them.
        let number = (word >> 16 & 0b1110_0000 | word & 0b1_1111) as u8;
        Self::ALL.into_iter().find(|it| *it as u8 == number)
    }

    /// The mnemonic.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Svc => "svc",
            Self::Hvc => "hvc",
            Self::Smc => "smc",
            Self::Brk => "brk",
            Self::Hlt => "hlt",
            Self::Tcancel => "tcancel",
            Self::Dcps1 => "dcps1",
            Self::Dcps2 => "dcps2",
            Self::Dcps3 => "dcps3",
        }
    }
}

impl Class {
    /// The class of a word that is refused.
    pub(super) fn of(word: u32) -> Self {
        let encoding = Encoding::of(word);
        match (Form::of(word), encoding.op0()) {
            (Form::Exception, _) => match Exception::of(word) {
                Some(exception) => Self::Exception(exception),
                None => Self::Unallocated(word),
            },
            (Form::Write, 0) => Self::without_register(word, encoding),
            (Form::Write, 1) => Self::System(encoding),
            (Form::Write, _) => Self::Register(encoding),
            (Form::WritePair, 1) => Self::SystemPair(encoding),
            (Form::WritePair, 2..) => Self::RegisterPair(encoding),
            (Form::Read, 1) => Self::SystemResult(encoding),
            _ => Self::Unallocated(word),
        }
    }

    fn without_register(word: u32, encoding: Encoding) -> Self {
        match (encoding.op1(), encoding.crn()) {
            _ if !encoding.is_complete(word) => Self::Unallocated(word),
            (_, 4) => Self::State(encoding),
            (3, 2) => Self::Hint(encoding),
            (3, 3) => Self::Barrier(encoding),
            _ => Self::Unallocated(word),
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mnemonic, encoding) = match *self {
            Self::Register(it) | Self::State(it) => ("msr", it),
            Self::RegisterPair(it) => ("msrr", it),
            Self::System(it) => ("sys", it),
            Self::SystemPair(it) => ("sysp", it),
            Self::SystemResult(it) => ("sysl", it),
            Self::Barrier(it) => ("barrier", it),
            Self::Hint(it) => return write!(f, "hint #{}", it.number() & 0x7f),
            Self::Exception(it) => return f.write_str(it.name()),
            Self::Unallocated(word) => {
                return write!(f, "unallocated system instruction {word:#010x}");
            }
        };
        write!(f, "{mnemonic} {encoding}")?;
        match name(encoding) {
            Some(name) => write!(f, " ({name})"),
            None => Ok(()),
        }
    }
}

/// The manual's name, for what the list says by name that it refuses.
fn name(encoding: Encoding) -> Option<&'static str> {
    let number = encoding.number();
    let after = names::NAMES.partition_point(|&(first, _, _)| first <= number);
    let &(_, last, name) = names::NAMES.get(after.checked_sub(1)?)?;
    (number <= last).then_some(name)
}
