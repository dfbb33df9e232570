// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a compartment until Linux has something to do.

use donjon_abi::call::{CompartmentExit, Reason, Supervisor};
use donjon_abi::layout::cpu_index;
use donjon_core::compartment::{Handle, How};
use donjon_hal::steps::Executor;
use donjon_hal::{cpu, registers};

use crate::context::{Cause, Registers};
use crate::masked::Masked;
use crate::outcome::{CallResult, Refusal};
use crate::per_cpu::PerCpu;
use crate::requests::{self, Asked};
use crate::{compartments, dispatch, panic_report};

/// Class of an SVC of AArch64 in `ESR_EL1`, whose low 16 bits are its number (D24.2.40).
const SVC: u64 = 0x15;

/// Runs the compartment with this handle: begins a call with four arguments, or goes on with the
/// one that it is in, whose call to its host gives the first one.
pub extern "C" fn run(
    _: u64,
    handle: u64,
    a: u64,
    b: u64,
    c: u64,
    d: u64,
    _: u64,
    block: &'static PerCpu,
) -> CallResult {
    let mut masked = Masked::begin(block);
    let result = match enter(Handle::from_word(handle), [a, b, c, d], &mut masked) {
        Ok((exit, value)) => CallResult::exit(exit, value),
        Err(refusal) => dispatch::refuse_run(block, [handle, a, b, c, d, 0], refusal),
    };
    masked.end();
    result
}

fn enter(
    handle: Handle,
    arguments: [u64; 4],
    masked: &mut Masked,
) -> Result<(CompartmentExit, u64), Refusal> {
    let compartments = compartments::get()?;
    // An exception from EL0 selects SP_EL1, so that has to be this stack.
    if !registers::selects_sp_el1() {
        return Err(Refusal::rule(Reason::BadRegister));
    }
    let cpu = cpu_index(cpu::mpidr());
    let mut entry = compartments
        .enter(&mut Executor, handle, cpu)
        .map_err(Refusal::rule)?;
    // SAFETY: the compartment runs here from now on, until `leave` below.
    let mut program = unsafe { Registers::of(&entry) };
    // The most frequent one first.
    if let How::Begin { pc, sp } = entry.how {
        program.prepare(pc, sp, arguments);
    } else {
        match entry.how {
            How::Begin { .. } | How::GoOn => {}
            How::Answer => program.set_first(arguments[0]),
            How::BeginAttested => {
                let at = (handle, cpu);
                if let Err(reason) = requests::flow::begin(compartments, &mut program, at) {
                    let exit = CompartmentExit::Faulted;
                    compartments.leave(&mut Executor, handle, cpu, exit);
                    return Err(Refusal::rule(reason));
                }
            }
        }
    }
    // Here, so that its instructions are counted with those of the call.
    let has_key = program.prepare_key(cpu);
    let mut begin = matches!(entry.how, How::Begin { .. });
    loop {
        let cause = masked.except(|| program.run(&entry, begin, cpu, has_key));
        begin = false;
        panic_report::join_if_stopping();
        // The most frequent one, without what all others take.
        if cause == Cause::Returned {
            let result = program.first();
            compartments.leave(&mut Executor, handle, cpu, CompartmentExit::Returned);
            return Ok((CompartmentExit::Returned, result));
        }
        let asked = Asked {
            compartments,
            program: &mut program,
            entry: &mut entry,
            at: (handle, cpu),
        };
        if let Some((exit, value)) = after(asked, cause) {
            compartments.leave(&mut Executor, handle, cpu, exit);
            return Ok((exit, value));
        }
    }
}

/// Serves what a compartment was left for. `None`: the compartment goes on.
#[cold]
#[inline(never)]
fn after(asked: Asked, cause: Cause) -> Option<(CompartmentExit, u64)> {
    let esr = match cause {
        Cause::Interrupt => return Some((CompartmentExit::Interrupted, 0)),
        Cause::Error => return requests::flow::error(asked),
        Cause::Returned => return Some((CompartmentExit::Returned, asked.program.first())),
        Cause::Synchronous(esr) => esr,
    };
    let request = match esr >> 26 & 0x3f {
        SVC => Supervisor::from_number(esr & 0xffff),
        _ => None,
    };
    match request {
        Some(request) => asked.serve(request, esr),
        None => requests::flow::exception(asked, esr),
    }
}
