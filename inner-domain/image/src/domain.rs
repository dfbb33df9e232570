// SPDX-License-Identifier: MIT OR Apache-2.0
//! The protected state: frames, kernel tables, registers. One lock guards it all.
//!
//! A call holds the lock from its first check to its last step, with exceptions masked, so what
//! was checked is what is done. No call holds it while it waits for anything but memory,
//! but for the one that stops the machine.

use donjon_abi::call::{Error, Reason};
use donjon_abi::layout::MAX_CPUS;
use donjon_core::cpu::registers::TranslationRegisters;
use donjon_core::cpu::rendezvous::Rendezvous;
use donjon_core::cpu::secondary::StartRequest;
use donjon_core::devices::properties::Question;
use donjon_core::kernel_tables::Seal;
use donjon_core::pools::Pools;
use donjon_core::report::waits::{self, Waiting};
use spin::Once;
use spin::mutex::{Mutex, MutexGuard};

use crate::outcome::Refusal;
use crate::usb::Usb;

/// The protected state.
pub struct Domain {
    /// Types of frames, the kernel's tables, pools.
    pub pools: Pools<'static>,
    /// The registers that are the same on every CPU; none before the hand-over.
    pub registers: Option<TranslationRegisters>,
    /// Requests to start a CPU that has not arrived, by its index.
    pub start_requests: [Option<StartRequest<TranslationRegisters>>; MAX_CPUS],
    /// A page on its way into the text pool, and how many of its words are there.
    pub sealing: Option<(Seal, usize)>,
    /// What the VideoCore was asked and has not answered.
    pub asked: Option<Question>,
    /// The USB controller whose registers are written for Linux, if the machine has one.
    pub usb: Option<Usb>,
    /// Which CPUs execute instructions of the outer domain.
    pub rendezvous: Rendezvous,
}

/// How CPUs wait for the lock.
type Wait = Waiting<{ waits::DOMAIN }>;

static DOMAIN: Once<Mutex<Domain, Wait>> = Once::new();

/// Stores the protected state; later calls change nothing. The CPU with index `cpu` is the one that
/// runs.
pub fn set(pools: Pools<'static>, usb: Option<Usb>, cpu: usize) {
    DOMAIN.call_once(|| {
        Mutex::new(Domain {
            pools,
            registers: None,
            start_requests: [None; MAX_CPUS],
            sealing: None,
            asked: None,
            usb,
            rendezvous: Rendezvous::new(cpu),
        })
    });
}

/// The protected state, for this call alone.
pub fn lock() -> Result<MutexGuard<'static, Domain, Wait>, Refusal> {
    Ok(DOMAIN.get().ok_or(Error::Busy)?.lock())
}

/// Locks the protected state. Error `WrongTime` before the hand-over.
pub fn lock_after_handover() -> Result<MutexGuard<'static, Domain, Wait>, Refusal> {
    let domain = lock()?;
    match domain.registers {
        Some(_) => Ok(domain),
        None => Err(Refusal::rule(Reason::WrongTime)),
    }
}
