// SPDX-License-Identifier: MIT OR Apache-2.0
//! ptrace: single steps, breakpoints in code and in registers, watchpoints, memory.

use std::io::Error;
use std::ptr;

use anyhow::{Context, Result, bail, ensure};
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill, raise};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::child::Child;
use crate::memory::Mapping;

/// Sets of registers (include/uapi/linux/elf.h).
const GENERAL: i32 = 1;
const BREAKPOINTS: i32 = 0x402;
const WATCHPOINTS: i32 = 0x403;
/// Bits of a breakpoint's control: enabled, at EL0, four bytes.
const BREAK: u32 = 0b1111 << 5 | 0b10 << 1 | 1;
/// Bits of a watchpoint's control: enabled, at EL0, eight bytes, stores.
const WATCH: u32 = 0xff << 5 | 0b10 << 3 | 0b10 << 1 | 1;
/// `brk #0`.
const BRK: u32 = 0xd420_0000;
const ROUNDS: u64 = 5;

/// `struct user_pt_regs`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Registers {
    x: [u64; 31],
    sp: u64,
    pc: u64,
    pstate: u64,
}

/// `struct user_hwdebug_state` with one slot.
#[repr(C)]
#[derive(Default)]
struct Debug {
    information: u32,
    padding: u32,
    address: u64,
    control: u32,
    padding_of_slot: u32,
}

/// What the debugged child calls.
#[inline(never)]
extern "C" fn called(place: *mut u64, value: u64) {
    // SAFETY: the child passes a word of its own.
    unsafe { place.write_volatile(value) };
}

/// A child that stops, then calls `called` several times.
struct Traced<'a> {
    child: Child,
    word: &'a Mapping,
}

impl<'a> Traced<'a> {
    fn start(word: &'a Mapping) -> Result<Self> {
        let child = Child::start(|| {
            ptrace::traceme()?;
            raise(Signal::SIGSTOP)?;
            let function = std::hint::black_box(called as extern "C" fn(*mut u64, u64));
            for round in 1..=ROUNDS {
                function(word.pointer().cast(), round * 11);
                ensure!(word.read(0) == round * 11, "the call did not store");
            }
            Ok(())
        })?;
        let traced = Self { child, word };
        traced.stopped_by(Signal::SIGSTOP)?;
        Ok(traced)
    }

    fn pid(&self) -> Pid {
        self.child.pid
    }

    fn stopped_by(&self, signal: Signal) -> Result<()> {
        match waitpid(self.pid(), None)? {
            WaitStatus::Stopped(_, found) if found == signal => Ok(()),
            other => bail!("the child was to stop by {signal}, but: {other:?}"),
        }
    }

    fn set<T>(&self, request: libc::c_uint, kind: i32, value: &mut T) -> Result<usize> {
        let mut vector = libc::iovec {
            iov_base: ptr::from_mut(value).cast(),
            iov_len: size_of::<T>(),
        };
        // SAFETY: the vector names a structure of ours, of a kind that the callers choose.
        let failed = unsafe {
            libc::ptrace(
                request.cast_signed(),
                self.pid().as_raw(),
                kind,
                &raw mut vector,
            )
        };
        ensure!(failed == 0, "ptrace: {}", Error::last_os_error());
        Ok(vector.iov_len)
    }

    fn registers(&self) -> Result<Registers> {
        let mut registers = Registers::default();
        self.set(libc::PTRACE_GETREGSET as u32, GENERAL, &mut registers)?;
        Ok(registers)
    }

    fn arm(&self, kind: i32, address: u64, control: u32) -> Result<()> {
        let mut debug = Debug {
            address,
            control,
            ..Debug::default()
        };
        self.set(libc::PTRACE_SETREGSET as u32, kind, &mut debug)?;
        Ok(())
    }

    fn go(&self) -> Result<()> {
        Ok(ptrace::cont(self.pid(), None)?)
    }

    fn step(&self) -> Result<()> {
        ptrace::step(self.pid(), None)?;
        self.stopped_by(Signal::SIGTRAP)
    }

    /// Reads a word of the child.
    fn peek(&self, address: u64) -> Result<u64> {
        let address = ptr::without_provenance_mut(usize::try_from(address)?);
        Ok(ptrace::read(self.pid(), address)?.cast_unsigned())
    }

    /// Changes a word of the child, whatever its protection.
    fn poke(&self, address: u64, value: u64) -> Result<()> {
        let address = ptr::without_provenance_mut(usize::try_from(address)?);
        Ok(ptrace::write(self.pid(), address, value.cast_signed())?)
    }

    fn ends_well(self) -> Result<()> {
        self.go()?;
        self.child.join()
    }
}

fn function() -> u64 {
    called as *const () as u64
}

/// Single steps, with the memory and registers of the child read and changed on the way.
pub fn single_step() -> Result<()> {
    let word = Mapping::anonymous(4096)?;
    let traced = Traced::start(&word)?;
    let place = traced.word.address() as u64 + 800;
    for value in 0..50 {
        traced.poke(place, value ^ 0xfeed)?;
        ensure!(
            traced.peek(place)? == value ^ 0xfeed,
            "what was poked is not there"
        );
    }
    ensure!(word.read(100) == 0, "the parent's page was changed");
    let mut changed = 0;
    let mut calls = 0;
    for _ in 0..3000 {
        let before = traced.registers()?.pc;
        traced.step()?;
        let after = traced.registers()?.pc;
        changed += u32::from(before != after);
        calls += u32::from(after == function());
        if calls == 2 {
            break;
        }
    }
    ensure!(calls == 2, "{calls} calls seen in {changed} steps");
    traced.ends_well()
}

/// A breakpoint instruction, a hardware breakpoint and a watchpoint, each hit by every call.
pub fn breakpoints() -> Result<()> {
    let word = Mapping::anonymous(4096)?;
    in_code(&word).context("breakpoint in code")?;
    in_register(&word, BREAKPOINTS, function(), BREAK).context("hardware breakpoint")?;
    in_register(&word, WATCHPOINTS, word.address() as u64, WATCH).context("watchpoint")?;
    // A tracer that dies leaves nothing that stops the child.
    let traced = Traced::start(&word)?;
    kill(traced.pid(), Signal::SIGKILL)?;
    traced.child.join_killed_by(Signal::SIGKILL)
}

fn in_code(word: &Mapping) -> Result<()> {
    let traced = Traced::start(word)?;
    let at = function() & !7;
    let original = traced.peek(at)?;
    let shift = 8 * (function() & 7);
    let with_brk = original & !(0xffff_ffff << shift) | u64::from(BRK) << shift;
    for _ in 0..ROUNDS {
        traced.poke(at, with_brk)?;
        traced.go()?;
        traced.stopped_by(Signal::SIGTRAP)?;
        let pc = traced.registers()?.pc;
        ensure!(pc == function(), "stopped at {pc:#x}");
        traced.poke(at, original)?;
        traced.step()?;
    }
    traced.ends_well()?;
    // The page is copied for the child; ours still runs.
    called(word.pointer().cast(), 1);
    Ok(())
}

fn in_register(word: &Mapping, kind: i32, address: u64, control: u32) -> Result<()> {
    let traced = Traced::start(word)?;
    for round in 0..ROUNDS {
        traced.arm(kind, address, control)?;
        traced.go()?;
        traced.stopped_by(Signal::SIGTRAP)?;
        let pc = traced.registers()?.pc;
        let near = pc.wrapping_sub(function()) < 64;
        ensure!(near, "stopped at {pc:#x} in round {round}");
        traced.arm(kind, 0, 0)?;
        traced.step()?;
    }
    traced.ends_well()
}
