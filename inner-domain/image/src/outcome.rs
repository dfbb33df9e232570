// SPDX-License-Identifier: MIT OR Apache-2.0
//! What goes into a call and what comes out: the words of every handler and service.

use donjon_abi::call::Error;

/// What a call gives back in x0 and x1 (AAPCS64: two words by value are returned so).
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CallResult {
    status: i64,
    value: u64,
}

impl CallResult {
    /// The words for the gate.
    pub fn new(outcome: Outcome) -> Self {
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
    /// A refusal with a value for x1.
    pub fn with_value(error: Error, value: u64) -> Self {
        Self { error, value }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { error, value: 0 }
    }
}

/// Of a call.
pub type Outcome = Result<u64, Refusal>;

/// x1 to x6, as the caller left them: allegations until checked.
pub type Arguments = [u64; 6];
