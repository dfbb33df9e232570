// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a compartment until Linux has something to do.

use donjon_abi::call::{CompartmentExit, Function, Reason, Supervisor};
use donjon_abi::layout::cpu_index;
use donjon_core::attestation::{BYTES, Boot, DATA, Subject};
use donjon_core::compartment::{Compartments, Entry, Exit, Handle};
use donjon_hal::steps::Executor;
use donjon_hal::{cpu, registers};
use zeroize::Zeroize;

use crate::context::{Cause, Registers};
use crate::outcome::{CallResult, Refusal};
use crate::per_cpu::PerCpu;
use crate::{attestation, compartments, dispatch, domain, panic_report, stack, users};

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

/// How long the CPU takes no interrupt: from the call, or from an exception from EL0, on, and until
/// EL0 or Linux goes on. What `context.S` does is not in it.
struct Masked {
    block: &'static PerCpu,
    /// What the cycle counter was; none while nothing is measured.
    since: Option<u64>,
}

impl Masked {
    fn begin(block: &'static PerCpu) -> Self {
        let is_measured = users::at_once().is_none();
        let since = if is_measured { cpu::cycles() } else { None };
        Self { block, since }
    }

    fn end(&mut self) {
        if let Some(before) = self.since.take()
            && let Some(after) = cpu::cycles()
        {
            let function = Function::CompartmentRun as usize;
            self.block
                .note_duration(function, after.wrapping_sub(before));
        }
    }

    /// Runs what is not masked.
    fn except<T>(&mut self, unmasked: impl FnOnce() -> T) -> T {
        let is_measured = self.since.is_some();
        self.end();
        let result = unmasked();
        if is_measured {
            self.since = cpu::cycles();
        }
        result
    }
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
    let mut entry = compartments.enter(handle, cpu).map_err(Refusal::rule)?;
    // SAFETY: it runs here from now on, until `leave` below.
    let mut program = unsafe { Registers::of(&entry) };
    match entry.begin {
        Some((pc, sp)) => program.prepare(pc, sp, arguments),
        None if entry.called_out => program.set(0, arguments[0]),
        None => {}
    }
    // Here, so that its instructions are counted with those of the call.
    let has_key = program.prepare_key(cpu);
    let mut begin = entry.begin.is_some();
    let (left, exit, value) = loop {
        let cause = masked.except(|| program.run(&entry, begin, cpu, has_key));
        begin = false;
        panic_report::join_if_stopping();
        // The most frequent one, without what all others take.
        if cause == Cause::Returned {
            let result = program.argument(0);
            break (Exit::Returned, CompartmentExit::Returned, result);
        }
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
    /// Serves what computes with secrets, apart from the other requests: what they take of the
    /// stack would make each of those longer.
    #[inline(never)]
    fn with_secrets(
        self,
        request: Supervisor,
        argument: u64,
    ) -> Option<(Exit, CompartmentExit, u64)> {
        stack::wiped(|| match request {
            Supervisor::Random => self.random(),
            Supervisor::Report => self.report(),
            Supervisor::Verify => self.verify(),
            _ => self.key(argument),
        })
    }

    /// What Linux gets; none if the compartment goes on.
    #[cold]
    #[inline(never)]
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
            Some(
                request @ (Supervisor::Random
                | Supervisor::Report
                | Supervisor::Verify
                | Supervisor::Key),
            ) => self.with_secrets(request, argument),
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
    fn peer(mut self, end: u64) -> Option<(Exit, CompartmentExit, u64)> {
        let (found, measurement) = match self.compartments.peer(self.at, end) {
            Ok(Some(measurement)) => (1, measurement),
            Ok(None) => (0, [0; 32]),
            Err(_) => (u64::MAX, [0; 32]),
        };
        self.program.set(0, found);
        self.put(1, &measurement);
        None
    }

    /// Random bytes: 1 in x0, and they in the next four registers.
    fn random(mut self) -> Option<(Exit, CompartmentExit, u64)> {
        let mut bytes = attestation::random();
        self.program.set(0, u64::from(bytes.is_some()));
        self.put(1, &bytes.unwrap_or_default());
        bytes.zeroize();
        None
    }

    /// A report: 1 in x0, its code, and what it says.
    fn report(mut self) -> Option<(Exit, CompartmentExit, u64)> {
        let mut data = [0; DATA];
        self.get(0, &mut data);
        let of_itself = self.compartments.measurement_and_limit(self.at.0).ok();
        let secrets = attestation::secrets();
        let report = of_itself.zip(secrets.as_ref());
        self.program.set(0, u64::from(report.is_some()));
        if let Some(((measurement, limit), secrets)) = report {
            let subject = Subject {
                measurement,
                limit,
                data,
            };
            self.put(1, &secrets.code(&subject));
            self.put(5, &measurement);
            self.program.set(9, limit);
            self.put_boot(secrets.boot());
        }
        None
    }

    /// Whether a report is of this boot: 1 in x0 if so.
    fn verify(mut self) -> Option<(Exit, CompartmentExit, u64)> {
        let (mut code, mut measurement, mut data) = ([0; BYTES], [0; BYTES], [0; DATA]);
        self.get(0, &mut code);
        self.get(4, &mut measurement);
        self.get(9, &mut data);
        let subject = Subject {
            measurement,
            limit: self.program.argument(8),
            data,
        };
        let secrets = attestation::secrets();
        let secrets = secrets.as_ref();
        let secrets = secrets.filter(|it| it.is_genuine(&subject, &code));
        self.program.set(0, u64::from(secrets.is_some()));
        if let Some(secrets) = secrets {
            self.put_boot(secrets.boot());
        }
        None
    }

    /// A key: 1 in x0, and it in the next four registers.
    fn key(mut self, purpose: u64) -> Option<(Exit, CompartmentExit, u64)> {
        let of_itself = self.compartments.measurement_and_limit(self.at.0).ok();
        let secrets = attestation::secrets();
        let mut key = of_itself
            .zip(secrets.as_ref())
            .map(|((measurement, _), secrets)| secrets.key(&measurement, purpose));
        self.program.set(0, u64::from(key.is_some()));
        self.put(1, &key.unwrap_or_default());
        key.zeroize();
        None
    }

    /// What is the same in all reports, in x10 to x16.
    fn put_boot(&mut self, boot: &Boot) {
        self.put(10, &boot.started);
        let words = [boot.version, boot.weakened, boot.identity as u64];
        for (index, word) in (14..).zip(words) {
            self.program.set(index, word);
        }
    }

    /// Bytes in registers from one on, big-endian.
    fn put(&mut self, first: usize, bytes: &[u8]) {
        let (words, _) = bytes.as_chunks::<8>();
        for (index, word) in (first..).zip(words) {
            self.program.set(index, u64::from_be_bytes(*word));
        }
    }

    /// Reads bytes out of the program's registers, big-endian words from `first` on.
    fn get(&mut self, first: usize, bytes: &mut [u8]) {
        let (words, _) = bytes.as_chunks_mut::<8>();
        for (index, word) in (first..).zip(words) {
            *word = self.program.argument(index).to_be_bytes();
        }
    }
}
