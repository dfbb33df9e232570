// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compartment under flow attestation: how its call begins, what ends it, and what stops it
//! because its log is full.

use donjon_abi::call::{CompartmentExit, Outcome, Reason, Word};
use donjon_abi::flow::LOG;
use donjon_abi::registers::Registers as _;
use donjon_core::compartment::{Cause, Compartments, Handle, Stop};
use donjon_hal::steps::Executor;

use super::asked::{Asked, End};
use crate::context::Registers;
use crate::{attestation, stack};

/// Prepares the call of a compartment under flow attestation.
#[cold]
#[inline(never)]
pub fn begin(
    compartments: &Compartments<'_>,
    program: &mut Registers,
    at: (Handle, usize),
) -> Result<(), Reason> {
    stack::wiped(|| {
        let begin = compartments.begin_attested(&mut Executor, at)?;
        program.prepare_attested(&begin, LOG);
        Ok(())
    })
}

/// Ends the call of a compartment under flow attestation. Any other compartment does not survive
/// this request.
pub fn end(asked: Asked, esr: u64) -> End {
    let outcome = Outcome::from_words(asked.program.words());
    Some(stop(asked, Cause::End(outcome)).unwrap_or((CompartmentExit::Faulted, esr)))
}

/// Ends a compartment for good, by its own request.
pub fn exit(asked: Asked) -> End {
    let Word { word } = Word::from_words(asked.program.words());
    Some(stop(asked, Cause::Exit(word)).unwrap_or((CompartmentExit::Ended, word)))
}

/// Ends a compartment by an exception, or finds that its log is full.
pub fn exception(asked: Asked, esr: u64) -> End {
    let far = asked.program.fault_address();
    let cause = Cause::Exception { esr, far };
    Some(stop(asked, cause).unwrap_or((CompartmentExit::Faulted, esr)))
}

/// Ends a compartment by an SError.
pub fn error(asked: Asked) -> End {
    Some(stop(asked, Cause::Error).unwrap_or((CompartmentExit::Faulted, 0)))
}

/// Stops a compartment under flow attestation: how it was left, and how many words its host has to
/// commit to. `None`: it is not under flow attestation.
#[cold]
#[inline(never)]
fn stop(asked: Asked, cause: Cause) -> End {
    stack::wiped(|| {
        let pc = asked.program.pc();
        let [.., v0, v1, v2, v3, _, cursor, path, _, _] = *asked.program.words();
        let stop = Stop {
            state: [v0, v1, v2, v3],
            cursor,
            path,
            pc,
        };
        let draw = attestation::random_words;
        let stopped =
            asked
                .compartments
                .stop_attested(&mut Executor, asked.at, (stop, cause), draw)?;
        if let Some(next) = stopped.next {
            asked.program.begin_segment(next, LOG);
        }
        Some((stopped.exit, stopped.words))
    })
}
