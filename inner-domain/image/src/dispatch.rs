// SPDX-License-Identifier: MIT OR Apache-2.0
//! The dispatcher: from a function number to its handler.
//!
//! The gate indexes [`donjon_call_table`] for the core's own functions. Everything else comes
//! through [`donjon_other_call`]: services, unknown numbers, and the stop after a mismatch.

use donjon_abi::call::{
    CORE_FUNCTIONS, Counter, Error, Function, OWNER_SHIFT, REASON_MISMATCH, RefusalRecord,
};
use donjon_abi::layout::cpu_index;
use donjon_hal::cpu;

use crate::outcome::{Arguments, CallResult, Outcome, Refusal};
use crate::per_cpu::PerCpu;
use crate::{calls, logger, panic_report, service, user_tables};

/// What the gate calls: function number, arguments, and the CPU block in x7.
type Entry = extern "C" fn(u64, u64, u64, u64, u64, u64, u64, &'static PerCpu) -> CallResult;

/// The table that the gate indexes. A page of its own: the gate forms its address with one ADRP.
#[repr(C, align(4096))]
pub struct CallTable([Entry; CORE_FUNCTIONS]);

/// An entry that runs a handler with all arguments.
macro_rules! entry {
    ($function:expr, $handler:path) => {{
        extern "C" fn enter(
            _: u64,
            a1: u64,
            a2: u64,
            a3: u64,
            a4: u64,
            a5: u64,
            a6: u64,
            block: &'static PerCpu,
        ) -> CallResult {
            let arguments = [a1, a2, a3, a4, a5, a6];
            measured(block, $function as usize, &arguments, $handler)
        }
        enter
    }};
}

/// A function that is its own entry.
macro_rules! entry_itself {
    ($function:expr, $entry:path) => {
        $entry
    };
}

/// An entry of a call that nearly always takes a fast path: the first of two attempts, which needs
/// no stack, or else the second one. Where neither succeeds the handler runs. The attempts and the
/// handler get the first four arguments.
macro_rules! fast_path {
    ($function:expr, $handler:path, $try_fast:expr, $try_next:expr) => {{
        extern "C" fn enter(
            number: u64,
            a1: u64,
            a2: u64,
            a3: u64,
            a4: u64,
            _: u64,
            _: u64,
            block: &'static PerCpu,
        ) -> CallResult {
            // A function of its own, so that this one needs no stack. So does the handler.
            #[inline(never)]
            extern "C" fn next(
                _: u64,
                a1: u64,
                a2: u64,
                a3: u64,
                a4: u64,
                _: u64,
                _: u64,
                block: &'static PerCpu,
            ) -> CallResult {
                let try_next: fn(u64, u64, u64, u64) -> bool = $try_next;
                if try_next(a1, a2, a3, a4) {
                    return CallResult::new(Ok(0));
                }
                slow(a1, a2, a3, a4, block)
            }
            #[inline(never)]
            fn slow(a1: u64, a2: u64, a3: u64, a4: u64, block: &'static PerCpu) -> CallResult {
                let arguments = [a1, a2, a3, a4, 0, 0];
                measured(block, $function as usize, &arguments, $handler)
            }
            let try_fast: fn(u64, u64, u64, u64) -> bool = $try_fast;
            if try_fast(a1, a2, a3, a4) {
                return CallResult::new(Ok(0));
            }
            next(number, a1, a2, a3, a4, 0, 0, block)
        }
        enter
    }};
}

/// Makes `entry_of`, which gives each function its entry. The match has an arm for each function,
/// or it does not compile.
macro_rules! entries {
    ($($function:ident => $entry:ident!($($handler:tt)+),)+) => {
        const fn entry_of(function: Function) -> Entry {
            match function {
                $(Function::$function => $entry!(Function::$function, $($handler)+),)+
            }
        }
    };
}

entries! {
    Null => entry_itself!(null),
    Version => entry!(calls::version::version),
    Statistics => entry!(calls::statistics::statistics),
    Log => entry!(calls::log::log),
    Echo => entry!(calls::echo::echo),
    Information => entry!(calls::information::information),
    CpuOn => entry!(calls::cpu_on::cpu_on),
    TableWrite => entry!(calls::table::write),
    TableWriteList => entry!(calls::table::write_list),
    TableRelease => entry!(calls::table::release),
    SwitchRoot => fast_path!(
        calls::user_tables::switch_root,
        |process, _, _, _| calls::user_tables::switch_root_fast(process),
        |_, _, _, _| false
    ),
    PoolAdd => entry!(calls::pool::add),
    PoolRemove => entry!(calls::pool::remove),
    Handover => entry!(calls::handover::handover),
    SystemRegister => entry!(calls::register::system_register),
    TextPoke => entry!(calls::text::poke),
    TextSeal => entry!(calls::text::seal),
    Firmware => entry!(calls::firmware::firmware),
    Refusals => entry!(calls::refusals::refusals),
    TextWait => entry!(calls::text_wait::wait),
    Map => fast_path!(
        calls::user_tables::map,
        calls::user_tables::map_page_fast,
        calls::user_tables::map_pages_fast
    ),
    MapBlock => entry!(calls::user_tables::map_block),
    Flush => entry!(calls::user_tables::flush),
    Refresh => entry!(calls::user_tables::refresh),
    Clear => entry!(calls::user_tables::clear),
    Free => entry!(calls::user_tables::free),
    DeviceWrite => entry!(calls::device::write),
    Properties => entry!(calls::properties::ask),
    CompartmentCreate => entry!(calls::compartment::create),
    CompartmentAdd => entry!(calls::compartment::add),
    CompartmentShare => entry!(calls::compartment::share),
    CompartmentSeal => entry!(calls::compartment::seal),
    CompartmentRun => entry_itself!(calls::compartment_run::run),
    CompartmentDestroy => entry!(calls::compartment::destroy),
    CompartmentClone => entry!(calls::compartment::clone),
    CompartmentCopy => entry!(calls::compartment::copy),
    CompartmentConnect => entry!(calls::compartment::connect),
    CompartmentInformation => entry!(calls::compartment::information),
    CompartmentFlow => entry!(calls::flow::begin),
    CompartmentFlowLog => entry!(calls::flow::extend_log),
    CompartmentCommit => entry!(calls::flow::commit),
    CompartmentFlowEnd => entry!(calls::flow::end),
    CompartmentFlowReport => entry!(calls::flow::report),
    UsbStart => entry!(calls::device::start_usb),
}

/// Entries of handlers by function number. A number between functions that is none has [`removed`].
#[unsafe(no_mangle)]
#[unsafe(link_section = ".rodata.call_table")]
pub static donjon_call_table: CallTable = {
    let mut table = [removed as Entry; CORE_FUNCTIONS];
    let mut index = 0;
    while index < Function::ALL.len() {
        let function = Function::ALL[index];
        table[function as usize] = entry_of(function);
        index += 1;
    }
    CallTable(table)
};

/// [`Function::Null`]: nothing, not even the measuring. x1 comes back as it went in.
extern "C" fn null(
    _: u64,
    a1: u64,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
    _: &'static PerCpu,
) -> CallResult {
    CallResult::new(Ok(a1))
}

/// A number that is no function any more.
extern "C" fn removed(
    number: u64,
    a1: u64,
    a2: u64,
    a3: u64,
    a4: u64,
    a5: u64,
    a6: u64,
    block: &'static PerCpu,
) -> CallResult {
    let arguments = [a1, a2, a3, a4, a5, a6];
    measured(block, number as usize, &arguments, unknown)
}

/// Refuses a call whose function does not exist.
fn unknown(_: &Arguments) -> Outcome {
    Err(Error::UnknownFunction.into())
}

/// Runs a handler and counts what it did.
fn measured(
    block: &'static PerCpu,
    function: usize,
    arguments: &Arguments,
    handler: impl FnOnce(&Arguments) -> Outcome,
) -> CallResult {
    if user_tables::fast().is_some() {
        let outcome = handler(arguments);
        if let Err(refusal) = &outcome {
            note_refusal(block, function, arguments, refusal);
        }
        return CallResult::new(outcome);
    }
    panic_report::join_if_stopping();
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

/// A compartment was not entered: counted and recorded like any refusal.
#[cold]
pub fn refuse_run(block: &PerCpu, arguments: Arguments, refusal: Refusal) -> CallResult {
    note_refusal(
        block,
        Function::CompartmentRun as usize,
        &arguments,
        &refusal,
    );
    CallResult::new(Err(refusal))
}

/// Counts and records a refusal. A block that is being taken is no refusal: the caller is to
/// call again.
#[cold]
fn note_refusal(block: &PerCpu, function: usize, arguments: &Arguments, refusal: &Refusal) {
    if refusal.error() == Error::Busy {
        return;
    }
    block.add(Counter::Refusals, function, 1);
    logger::note_refusal(RefusalRecord {
        sequence: 0,
        function: function as u32,
        cpu: cpu_index(cpu::mpidr()) as u32,
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
    block: &'static PerCpu,
) -> CallResult {
    if number == REASON_MISMATCH {
        panic_report::mismatch(block);
    }
    let owner = number >> OWNER_SHIFT;
    let function = number & ((1 << OWNER_SHIFT) - 1);
    let arguments = [a1, a2, a3, a4, a5, a6];
    match service::of(owner) {
        Some(service) => {
            panic_report::join_if_stopping();
            CallResult::new(service.call(function, &arguments))
        }
        None => {
            block.add(Counter::Calls, CORE_FUNCTIONS, 1);
            let arguments = [number, a1, a2, a3, a4, a5];
            measured(block, CORE_FUNCTIONS, &arguments, unknown)
        }
    }
}
