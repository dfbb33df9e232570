// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a function number to a function.
//!
//! The gate indexes [`donjon_call_table`] for the core's own functions. Everything else comes
//! through [`donjon_other_call`]: services, unknown numbers, and the stop after a mismatch.

use donjon_abi::call::{self, CORE_FUNCTIONS, Counter, Error, OWNER_SHIFT};
use donjon_hal::cpu;

use crate::cpu_block::CpuBlock;
use crate::outcome::{CallResult, Outcome};
use crate::{calls, epitaph, service};

/// What the gate calls: function number, arguments, and the CPU block in x7.
type Entry = extern "C" fn(u64, u64, u64, u64, u64, u64, u64, &'static CpuBlock) -> CallResult;

/// The table that the gate indexes. A page of its own: the gate forms its address with one ADRP.
#[repr(C, align(4096))]
pub struct CallTable([Entry; CORE_FUNCTIONS]);

macro_rules! entry {
    ($number:expr, $handler:path) => {{
        extern "C" fn enter(
            _: u64,
            a1: u64,
            a2: u64,
            a3: u64,
            a4: u64,
            a5: u64,
            a6: u64,
            block: &'static CpuBlock,
        ) -> CallResult {
            measured(block, $number as usize, || {
                $handler(&[a1, a2, a3, a4, a5, a6])
            })
        }
        enter
    }};
}

/// In the order of [`call::Function`].
#[unsafe(no_mangle)]
#[unsafe(link_section = ".rodata.call_table")]
pub static donjon_call_table: CallTable = CallTable([
    null,
    entry!(call::Function::Version, calls::version::version),
    entry!(call::Function::Statistics, calls::statistics::statistics),
    entry!(call::Function::Log, calls::log::log),
    entry!(call::Function::Echo, calls::echo::echo),
    entry!(call::Function::Information, calls::information::information),
    entry!(call::Function::CpuOn, calls::cpu_on::cpu_on),
]);

/// [`call::Function::Null`]: nothing, not even the measuring. x1 comes back as it went in.
extern "C" fn null(
    _: u64,
    a1: u64,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
    _: &'static CpuBlock,
) -> CallResult {
    CallResult::new(Ok(a1))
}

/// Runs a handler and counts what it did.
fn measured(
    block: &'static CpuBlock,
    function: usize,
    handler: impl FnOnce() -> Outcome,
) -> CallResult {
    epitaph::join_if_stopping();
    let before = cpu::cycles();
    let outcome = handler();
    if let (Some(before), Some(after)) = (before, cpu::cycles()) {
        block.add(Counter::Instructions, function, after.wrapping_sub(before));
    }
    if outcome.is_err() {
        block.add(Counter::Refusals, function, 1);
    }
    CallResult::new(outcome)
}

/// Every number that is not the core's.
#[unsafe(no_mangle)]
extern "C" fn donjon_other_call(
    number: u64,
    a1: u64,
    a2: u64,
    a3: u64,
    a4: u64,
    a5: u64,
    a6: u64,
    block: &'static CpuBlock,
) -> CallResult {
    if number == call::REASON_MISMATCH {
        epitaph::mismatch(block);
    }
    let owner = number >> OWNER_SHIFT;
    let function = number & ((1 << OWNER_SHIFT) - 1);
    let arguments = [a1, a2, a3, a4, a5, a6];
    match service::of(owner) {
        Some(service) => {
            epitaph::join_if_stopping();
            CallResult::new(service.call(function, &arguments))
        }
        None => {
            block.add(Counter::Calls, CORE_FUNCTIONS, 1);
            measured(block, CORE_FUNCTIONS, || Err(Error::UnknownFunction.into()))
        }
    }
}
