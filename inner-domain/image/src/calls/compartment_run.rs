// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a compartment until Linux has something to do.

use donjon_abi::call::{CompartmentExit, Reason, Supervisor};
use donjon_abi::layout::cpu_index;
use donjon_core::compartment::{Compartments, Entry, Exit, Handle};
use donjon_hal::steps::Executor;
use donjon_hal::{cpu, registers};

use crate::context::{Cause, Registers};
use crate::outcome::{CallResult, Refusal};
use crate::per_cpu::PerCpu;
use crate::{compartments, dispatch, domain, panic_report};

/// Class of an SVC of AArch64 in `ESR_EL1`, whose low 16 bits are its number (D24.2.40).
const SVC: u64 = 0x15;

/// Runs the compartment with this handle: begins a call with four arguments, or goes on with the one
/// that it is in, whose call to its host gives the first one.
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
    match enter(Handle::from_word(handle), [a, b, c, d]) {
        Ok((exit, value)) => CallResult::exit(exit, value),
        Err(refusal) => dispatch::refuse_run(block, [handle, a, b, c, d, 0], refusal),
    }
}

fn enter(handle: Handle, arguments: [u64; 4]) -> Result<(CompartmentExit, u64), Refusal> {
    let compartments = compartments::get()?;
    // An exception from EL0 selects SP_EL1, so that has to be this stack.
    if !registers::selects_sp_el1() {
        return Err(Refusal::rule(Reason::BadRegister));
    }
    let cpu = cpu_index(cpu::mpidr());
    let mut entry = compartments.enter(handle, cpu).map_err(Refusal::rule)?;
    // SAFETY: it runs here from now on, until `leave` below.
    let mut program = unsafe { Registers::of(&entry) };
    match entry.begin {
        Some((pc, sp)) => program.prepare(pc, sp, arguments),
        None if entry.called_out => program.set(0, arguments[0]),
        None => {}
    }
    let mut begin = entry.begin.is_some();
    let (left, exit, value) = loop {
        let cause = program.run(&entry, begin, cpu);
        begin = false;
        panic_report::join_if_stopping();
        let serve = Serve {
            compartments,
            program: &mut program,
            entry: &mut entry,
            at: (handle, cpu),
        };
        if let Some(end) = serve.after(cause) {
            break end;
        }
    };
    compartments.leave(handle, cpu, left);
    Ok((exit, value))
}

/// What a compartment was left for.
struct Serve<'a> {
    compartments: &'static Compartments<'static>,
    program: &'a mut Registers,
    entry: &'a mut Entry,
    at: (Handle, usize),
}

impl Serve<'_> {
    /// What Linux gets; none if the compartment goes on.
    fn after(self, cause: Cause) -> Option<(Exit, CompartmentExit, u64)> {
        let esr = match cause {
            Cause::Interrupt => return Some((Exit::Suspended, CompartmentExit::Interrupted, 0)),
            Cause::Error => return Some((Exit::Died, CompartmentExit::Faulted, 0)),
            Cause::Returned => {
                let result = self.program.argument(0);
                return Some((Exit::Returned, CompartmentExit::Returned, result));
            }
            Cause::Synchronous(esr) => esr,
        };
        if esr >> 26 & 0x3f != SVC {
            return Some((Exit::Died, CompartmentExit::Faulted, esr));
        }
        let argument = self.program.argument(0);
        match Supervisor::from_number(esr & 0xffff) {
            Some(Supervisor::CallOut) => {
                Some((Exit::CalledOut, CompartmentExit::CalledOut, argument))
            }
            Some(Supervisor::Exit) => Some((Exit::Died, CompartmentExit::Ended, argument)),
            Some(Supervisor::Grow) => self.resize(argument, false),
            Some(Supervisor::Shrink) => self.resize(argument, true),
            Some(Supervisor::Send) => self.transfer(argument, false),
            Some(Supervisor::Receive) => self.transfer(argument, true),
            Some(Supervisor::Peer) => self.peer(argument),
            // RETURN is told apart where the program is left.
            Some(Supervisor::Return) | None => Some((Exit::Died, CompartmentExit::Faulted, esr)),
        }
    }

    /// Adds or takes away pages: how many in x0, how many there are in x1.
    fn resize(self, pages: u64, less: bool) -> Option<(Exit, CompartmentExit, u64)> {
        let Ok(mut domain) = domain::lock_after_handover() else {
            return Some((Exit::Suspended, CompartmentExit::Interrupted, 0));
        };
        let (_, private) = domain.rules.private();
        let (compartments, at) = (self.compartments, self.at);
        let resized = if less {
            let shrunk = compartments.shrink(&mut Executor, private, at, pages);
            shrunk.map(|(pages, heap, tag)| {
                self.entry.tag = tag;
                (pages, heap)
            })
        } else {
            compartments.grow(&mut Executor, private, at, pages)
        };
        let (pages, heap) = resized.unwrap_or((0, 0));
        self.program.set(0, pages);
        self.program.set(1, heap);
        None
    }

    /// Sends or receives: how many bytes in x0, whether the other one is there in x1.
    fn transfer(self, end: u64, inwards: bool) -> Option<(Exit, CompartmentExit, u64)> {
        let bytes = (self.program.argument(1), self.program.argument(2));
        let moved = if inwards {
            self.compartments
                .receive(&mut Executor, self.at, end, bytes)
        } else {
            self.compartments.send(&mut Executor, self.at, end, bytes)
        };
        let (count, is_open) = moved.map_or((u64::MAX, false), |it| (it.bytes, it.is_open));
        self.program.set(0, count);
        self.program.set(1, u64::from(is_open));
        None
    }

    /// Who is at the other end: 1 in x0 and the measurement in the next four registers.
    fn peer(self, end: u64) -> Option<(Exit, CompartmentExit, u64)> {
        let (found, measurement) = match self.compartments.peer(self.at, end) {
            Ok(Some(measurement)) => (1, measurement),
            Ok(None) => (0, [0; 32]),
            Err(_) => (u64::MAX, [0; 32]),
        };
        self.program.set(0, found);
        let (words, _) = measurement.as_chunks::<8>();
        for (index, word) in words.iter().enumerate() {
            self.program.set(index + 1, u64::from_be_bytes(*word));
        }
        None
    }
}
