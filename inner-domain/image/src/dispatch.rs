// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a function number to a function.
//!
//! The gate indexes [`donjon_call_table`] for the core's own functions. Everything else comes
//! through [`donjon_other_call`]: services, unknown numbers, and the stop after a mismatch.

use donjon_abi::call::{self, CORE_FUNCTIONS, Counter, Error, OWNER_SHIFT, RefusalRecord};
use donjon_abi::layout::cpu_index;
use donjon_hal::cpu;

use crate::cpu_block::CpuBlock;
use crate::outcome::{Arguments, CallResult, Outcome, Refusal};
use crate::{calls, epitaph, journal, service};

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
            let arguments = [a1, a2, a3, a4, a5, a6];
            measured(block, $number as usize, &arguments, $handler)
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
    entry!(call::Function::TableWrite, calls::table::write),
    entry!(call::Function::TableWriteList, calls::table::write_list),
    entry!(call::Function::TableRelease, calls::table::release),
    entry!(call::Function::RootNew, calls::table::root_new),
    entry!(call::Function::SwitchRoot, calls::table::switch_root),
    entry!(call::Function::PoolAdd, calls::pool::add),
    entry!(call::Function::PoolRemove, calls::pool::remove),
    entry!(call::Function::Handover, calls::handover::handover),
    entry!(
        call::Function::SystemRegister,
        calls::register::system_register
    ),
    entry!(call::Function::TextPoke, calls::text::poke),
    entry!(call::Function::TextSeal, calls::text::seal),
    entry!(call::Function::Firmware, calls::firmware::firmware),
    entry!(call::Function::Refusals, calls::refusals::refusals),
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
    arguments: &Arguments,
    handler: impl FnOnce(&Arguments) -> Outcome,
) -> CallResult {
    epitaph::join_if_stopping();
    let before = cpu::cycles();
    let outcome = handler(arguments);
    if let Err(refusal) = &outcome {
        note_refusal(block, function, arguments, refusal);
    }
    // What a refusal takes is part of the call.
    if let (Some(before), Some(after)) = (before, cpu::cycles()) {
        block.note_duration(function, after.wrapping_sub(before));
    }
    CallResult::new(outcome)
}

/// Counts and records a refusal. A block that is being taken is no refusal: the caller is to
/// call again.
#[cold]
fn note_refusal(block: &CpuBlock, function: usize, arguments: &Arguments, refusal: &Refusal) {
    if refusal.error() == Error::Busy {
        return;
    }
    block.add(Counter::Refusals, function, 1);
    let cpu = cpu_index(cpu::mpidr()) as u64;
    journal::note_refusal(RefusalRecord {
        sequence: 0,
        function: cpu << 32 | function as u64,
        error: refusal.error() as i64,
        value: refusal.value(),
        caller: block.caller(),
        a1: arguments[0],
        a2: arguments[1],
    });
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
            let arguments = [number, a1, a2, a3, a4, a5];
            measured(block, CORE_FUNCTIONS, &arguments, |_| {
                Err(Error::UnknownFunction.into())
            })
        }
    }
}
