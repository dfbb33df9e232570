// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program at EL0 that the inner domain itself enters and leaves; `context.S` does both.

use core::arch::global_asm;
use core::mem::offset_of;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use donjon_abi::call::Supervisor;
use donjon_abi::layout::{MAX_CPUS, PHYSMAP};
use donjon_abi::tcr;
use donjon_core::compartment::{Begin, Entry, FLOW_OFFSET};
use donjon_core::cpu::generic_key::{self, Key};
use donjon_hal::registers;
use zeroize::Zeroize;

use crate::checks::{Checks, Configured};
use crate::gate::INNER;
use crate::{attestation, stack};

/// Registers of a program that does not run, in a private frame of its own.
#[repr(C, align(16))]
pub struct Context {
    /// x0 to x30.
    x: [u64; 31],
    sp: u64,
    pc: u64,
    pstate: u64,
    thread: u64,
    fpsr: u64,
    fpcr: u64,
    /// `ESR_EL1` and `FAR_EL1` of the exception with which it was left.
    esr: u64,
    far: u64,
    /// What PACGA computes with: `APGAKeyLo_EL1` and `APGAKeyHi_EL1`. Zero until the program first
    /// runs on a CPU that has them.
    key: Key,
    _reserved: u64,
    /// q0 to q31.
    q: [u128; 32],
}

// What is behind it in its frame belongs to flow attestation.
const _: () = assert!(size_of::<Context>() as u64 <= FLOW_OFFSET);

/// What of `PSTATE` is a program's own: N, Z, C, V, TCO, DIT, SSBS, BTYPE. The rest is zero: EL0,
/// no exception masked, no step.
const PSTATE: u64 = 0xf << 28 | 1 << 25 | 1 << 24 | 1 << 12 | 0b11 << 10;

/// Bits of `SCTLR_EL1` that are off while such a program runs: authentication of pointers, for
/// which Linux's keys are loaded (EnIA, EnIB, EnDA, EnDB), EL0's access to the exception masks
/// (UMA), alignment faults (A): programs are compiled without `strict-align`, and what instructions
/// would compute with or give back of registers that are not saved: FPMR (EnFPM), TPIDR2_EL0
/// (EnTP2), ACCDATA_EL1 (EnAS0), and RGSR_EL1 and GCR_EL1 (ATA0).
const SCTLR_OFF: u64 =
    1 << 60 | 1 << 55 | 1 << 42 | 1 << 34 | 1 << 31 | 1 << 30 | 1 << 27 | 1 << 13 | 1 << 9 | 1 << 1;

/// Why a program was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An exception of its own, described by this `ESR_EL1`.
    Synchronous(u64),
    /// An interrupt, for Linux.
    Interrupt,
    /// An SError.
    Error,
    /// SVC [`RETURN`] of the program; x0 is the result.
    Returned,
}

unsafe extern "C" {
    /// Runs a program until the next exception; returns the kind of it.
    fn donjon_context_run(
        context: *mut Context,
        ttbr0: u64,
        invalidate: u64,
        begin: u64,
        has_key: u64,
    ) -> u64;
}

/// What is known of a CPU.
struct Known {
    /// The tag of the program that it entered last.
    last: AtomicU64,
    /// Whether it has the key of PACGA: to ask it takes long under a hypervisor.
    has_key: AtomicU8,
}

static KNOWN: [Known; MAX_CPUS] = [const {
    Known {
        last: AtomicU64::new(0),
        has_key: AtomicU8::new(UNKNOWN),
    }
}; MAX_CPUS];
const UNKNOWN: u8 = 0;
const ABSENT: u8 = 1;
const PRESENT: u8 = 2;

/// Asks this CPU whether it has the key of PACGA, and keeps the answer.
#[cold]
#[inline(never)]
fn ask_for_key(answer: &AtomicU8) -> bool {
    let has_key = registers::has_generic_key();
    answer.store(if has_key { PRESENT } else { ABSENT }, Ordering::Relaxed);
    has_key
}

/// A program's registers, as long as it runs on this CPU.
pub struct Registers(*mut Context);

impl Registers {
    /// The context of the compartment that was just entered.
    ///
    /// # Safety
    ///
    /// The compartment runs on this CPU as long as this exists, so nothing else uses its frame.
    pub unsafe fn of(entry: &Entry) -> Self {
        Self((PHYSMAP + entry.context) as *mut Context)
    }

    fn context(&mut self) -> &mut Context {
        // SAFETY: a page of RAM that the physical view maps, ours alone by the promise of `of`. Any
        // content is a valid context.
        unsafe { &mut *self.0 }
    }

    /// Registers x0 to x30.
    pub fn words(&mut self) -> &mut [u64; 31] {
        &mut self.context().x
    }

    /// What is in the first register: the result of a call, or what is asked for.
    pub fn first(&mut self) -> u64 {
        self.context().x[0]
    }

    /// Sets the first register: the host's answer.
    pub fn set_first(&mut self, value: u64) {
        self.context().x[0] = value;
    }

    /// Prepares a call, with which it is then [run](Self::run): every other register will be zero.
    pub fn prepare(&mut self, pc: u64, sp: u64, arguments: [u64; 4]) {
        let context = self.context();
        context.x[..4].copy_from_slice(&arguments);
        (context.pc, context.sp) = (pc, sp);
        (context.pstate, context.thread) = (0, 0);
        (context.fpsr, context.fpcr) = (0, 0);
    }

    /// Prepares the call of a program under flow attestation, which goes on as if it had been
    /// interrupted: every register that is not named here is zero. `log` is where its log begins.
    pub fn prepare_attested(&mut self, begin: &Begin, log: u64) {
        let (pc, sp) = begin.place;
        self.prepare(pc, sp, begin.arguments);
        let context = self.context();
        context.x[4..].fill(0);
        context.q.fill(0);
        self.begin_segment(begin.state, log);
        // No path bit below the sentinel.
        self.context().x[28] = 1;
    }

    /// Sets the state of a chain, x22 to x25, and the cursor, x27.
    pub fn begin_segment(&mut self, state: [u64; 4], log: u64) {
        let context = self.context();
        context.x[22..26].copy_from_slice(&state);
        context.x[27] = log;
    }

    /// Address of the next instruction.
    pub fn pc(&mut self) -> u64 {
        self.context().pc
    }

    /// The address that the exception was about with which the program was left.
    pub fn fault_address(&mut self) -> u64 {
        self.context().far
    }

    /// Gives the program a key of its own, unless it has one; whether this CPU has its registers.
    /// In a boot without random bytes it stays zero.
    #[inline(always)]
    pub fn prepare_key(&mut self, cpu: usize) -> bool {
        KNOWN[cpu % MAX_CPUS].has_key.load(Ordering::Relaxed) != ABSENT && self.has_own_key(cpu)
    }

    #[cold]
    #[inline(never)]
    fn has_own_key(&mut self, cpu: usize) -> bool {
        let answer = &KNOWN[cpu % MAX_CPUS].has_key;
        if answer.load(Ordering::Relaxed) == UNKNOWN && !ask_for_key(answer) {
            return false;
        }
        if !Configured::GENERIC_KEY.is_made() {
            return false;
        }
        if self.context().key == [0; 2] {
            self.make_key();
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn make_key(&mut self) {
        let key = &mut self.context().key;
        stack::wiped(|| {
            if let Some(mut bytes) = attestation::random() {
                *key = generic_key::from_random(&bytes);
                bytes.zeroize();
            }
        });
    }

    /// Runs the program until the next exception, from the beginning of a call or from where it was
    /// left. `cpu` is this CPU's index, and `has_key` what [`prepare_key`](Self::prepare_key) said.
    #[inline(always)]
    pub fn run(&mut self, entry: &Entry, begin: bool, cpu: usize, has_key: bool) -> Cause {
        let last = &KNOWN[cpu % MAX_CPUS].last;
        let stale = last.load(Ordering::Relaxed) != entry.tag;
        last.store(entry.tag, Ordering::Relaxed);
        self.context().pstate &= PSTATE;
        let ttbr0 = entry.root | u64::from(tcr::COMPARTMENT_ASID) << 48;
        // SAFETY: the context is a whole one, and so is the root, whose frames belong to the
        // compartment. Nothing that this CPU holds of other roots has its ASID: it is invalidated
        // if another tree was entered last. The key's registers are touched where they exist alone.
        let kind = unsafe {
            donjon_context_run(
                self.0,
                ttbr0,
                u64::from(stale),
                u64::from(begin),
                u64::from(has_key),
            )
        };
        match kind {
            0 => Cause::Synchronous(self.context().esr),
            1 => Cause::Interrupt,
            3 => Cause::Returned,
            _ => Cause::Error,
        }
    }
}

const _: () = assert!(offset_of!(Context, q) == 336, "q0 is aligned");

/// `ESR_EL1` of an SVC of AArch64 with the number of [`Supervisor::Return`].
const RETURN: u64 = 0x15 << 26 | 1 << 25;

const _: () = assert!(Supervisor::Return as u64 == 0);

global_asm!(
    include_str!("context.S"),
    INNER = const INNER,
    INSIDE = const tcr::INSIDE,
    ASID = const tcr::COMPARTMENT_ASID,
    SCTLR_OFF = const SCTLR_OFF,
    SP = const offset_of!(Context, sp),
    PC = const offset_of!(Context, pc),
    FPSR = const offset_of!(Context, fpsr),
    ESR = const offset_of!(Context, esr),
    KEY = const offset_of!(Context, key),
    Q = const offset_of!(Context, q),
    RETURN = const RETURN,
    SCRUB = const Configured::SCRUB.is_in_code() as u32,
    CONTEXT_DEBUG = const Configured::CONTEXT_DEBUG.is_in_code() as u32,
    LINUX_ROOT = const Configured::LINUX_ROOT.is_in_code() as u32,
    VECTOR_LENGTH = const Configured::VECTOR_LENGTH.is_in_code() as u32,
);
