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
use crate::{calls, epitaph, journal, service, users};

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

/// The same for a call that is nearly always made at once, or else in a second way. Only where it
/// is not, its handler runs. It takes the first four arguments.
macro_rules! entry_at_once {
    ($number:expr, $handler:path, $at_once:expr, $else:expr) => {{
        extern "C" fn enter(
            number: u64,
            a1: u64,
            a2: u64,
            a3: u64,
            a4: u64,
            _: u64,
            _: u64,
            block: &'static CpuBlock,
        ) -> CallResult {
            // A function of its own, so that this one needs no stack. So does the handler.
            #[inline(never)]
            extern "C" fn at_length(
                _: u64,
                a1: u64,
                a2: u64,
                a3: u64,
                a4: u64,
                _: u64,
                _: u64,
                block: &'static CpuBlock,
            ) -> CallResult {
                let or_else: fn(u64, u64, u64, u64) -> bool = $else;
                if or_else(a1, a2, a3, a4) {
                    return CallResult::new(Ok(0));
                }
                with_handler(a1, a2, a3, a4, block)
            }
            #[inline(never)]
            fn with_handler(
                a1: u64,
                a2: u64,
                a3: u64,
                a4: u64,
                block: &'static CpuBlock,
            ) -> CallResult {
                let arguments = [a1, a2, a3, a4, 0, 0];
                measured(block, $number as usize, &arguments, $handler)
            }
            let at_once: fn(u64, u64, u64, u64) -> bool = $at_once;
            if at_once(a1, a2, a3, a4) {
                return CallResult::new(Ok(0));
            }
            at_length(number, a1, a2, a3, a4, 0, 0, block)
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
    entry!(call::REMOVED_FUNCTION, removed),
    entry_at_once!(
        call::Function::SwitchRoot,
        calls::user_tables::switch_root,
        |process, _, _, _| calls::user_tables::switch_at_once(process),
        |_, _, _, _| false
    ),
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
    entry!(call::Function::TextWait, calls::text_wait::wait),
    entry_at_once!(
        call::Function::Map,
        calls::user_tables::map,
        calls::user_tables::map_one,
        calls::user_tables::map_many
    ),
    entry!(call::Function::MapBlock, calls::user_tables::map_block),
    entry!(call::Function::Flush, calls::user_tables::flush),
    entry!(call::Function::Refresh, calls::user_tables::refresh),
    entry!(call::Function::Clear, calls::user_tables::clear),
    entry!(call::Function::Free, calls::user_tables::free),
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

/// A number that is no function any more.
fn removed(_: &Arguments) -> Outcome {
    Err(Error::UnknownFunction.into())
}

/// Runs a handler and counts what it did.
fn measured(
    block: &'static CpuBlock,
    function: usize,
    arguments: &Arguments,
    handler: impl FnOnce(&Arguments) -> Outcome,
) -> CallResult {
    if users::at_once().is_some() {
        let outcome = handler(arguments);
        if let Err(refusal) = &outcome {
            note_refusal(block, function, arguments, refusal);
        }
        return CallResult::new(outcome);
    }
    epitaph::join_if_stopping();
    let before = cpu::cycles();
    let outcome = handler(arguments);
    if let Err(refusal) = &outcome {
        note_refusal(block, function, arguments, refusal);
    }
    // What a refusal takes is part of the call.
    if let Some(before) = before
        && let Some(after) = cpu::cycles()
    {
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
