// SPDX-License-Identifier: MIT OR Apache-2.0
//! The types of arguments and results of handlers and services.

use donjon_abi::call::{CompartmentExit, Error, Reason};

/// What a call gives back in x0 and x1 (AAPCS64: two words by value are returned so).
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CallResult {
    status: i64,
    value: u64,
}

impl CallResult {
    /// The words for the gate when a compartment was left.
    pub fn exit(exit: CompartmentExit, value: u64) -> Self {
        #[cfg(feature = "trace-steps")]
        donjon_hal::trace::end();
        Self {
            status: exit as i64,
            value,
        }
    }

    /// The words for the gate, with which a call ends.
    pub fn new(outcome: Outcome) -> Self {
        #[cfg(feature = "trace-steps")]
        donjon_hal::trace::end();
        match outcome {
            Ok(value) => Self { status: 0, value },
            Err(refusal) => Self {
                status: refusal.error as i64,
                value: refusal.value,
            },
        }
    }
}

/// The caller's fault: a code, and a value that explains it.
#[derive(Clone, Copy)]
pub struct Refusal {
    error: Error,
    value: u64,
}

impl Refusal {
    /// A rule forbids it.
    pub fn rule(reason: Reason) -> Self {
        Self::with_value(Error::Refused, reason as u64)
    }

    /// A rule forbids the entry of a list with this index, or the property with this tag, below
    /// 2^32.
    pub fn rule_at(reason: Reason, index: u64) -> Self {
        Self::with_value(Error::Refused, ((reason as u64) << 32) | index)
    }

    /// The instruction with this index may not be executed.
    pub fn instruction(index: usize, word: u32) -> Self {
        Self::with_value(
            Error::BadInstruction,
            (u64::from(word) << 32) | (index as u64 * 4),
        )
    }

    /// A refusal with a value for x1.
    pub fn with_value(error: Error, value: u64) -> Self {
        Self { error, value }
    }
}

impl Refusal {
    /// The code.
    pub fn error(&self) -> Error {
        self.error
    }

    /// The value for x1.
    pub fn value(&self) -> u64 {
        self.value
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { error, value: 0 }
    }
}

/// Result of a call: a value or a refusal.
pub type Outcome = Result<u64, Refusal>;

/// x1 to x6, as the caller left them: allegations until checked.
pub type Arguments = [u64; 6];
