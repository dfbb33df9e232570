// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parked CPUs: those of a machine without PSCI wait in inner memory, and the inner domain answers
//! in place of firmware (PSCI 1.0, DEN 0022).
//!
//! A CPU is parked at boot, and again when Linux switches it off. It never goes back to the
//! firmware's holding pen, whose words Linux might write.

use core::sync::atomic::{AtomicU64, Ordering};

use donjon_abi::layout::MAX_CPUS;

/// The CPU was never parked.
const AWAY: u64 = 0;
/// The CPU is parked.
pub const WAITS: u64 = 1;
/// The CPU waits and was released.
const RELEASED: u64 = 2;
/// The CPU runs the outer domain.
const RUNS: u64 = 3;

/// Errors of PSCI.
mod error {
    pub const NOT_SUPPORTED: i64 = -1;
    pub const INVALID_PARAMETERS: i64 = -2;
    pub const ALREADY_ON: i64 = -4;
    pub const ON_PENDING: i64 = -5;
    pub const INTERNAL_FAILURE: i64 = -6;
}

/// States of AFFINITY_INFO.
mod state {
    pub const ON: i64 = 0;
    pub const OFF: i64 = 1;
    pub const ON_PENDING: i64 = 2;
}

/// What every CPU does, by index. Zeros are valid: no CPU was parked yet.
#[repr(C)]
pub struct ParkedCpus([AtomicU64; MAX_CPUS]);

impl ParkedCpus {
    /// State of CPUs none of which was parked yet.
    pub const fn new() -> Self {
        Self([const { AtomicU64::new(AWAY) }; MAX_CPUS])
    }

    fn cell(&self, cpu: usize) -> &AtomicU64 {
        &self.0[cpu % MAX_CPUS]
    }

    /// Marks the CPU that boots the machine as running: it never waits here.
    pub fn set_running(&self, cpu: usize) {
        self.cell(cpu).store(RUNS, Ordering::Release);
    }

    /// Marks a CPU as parked: from now on it may be released.
    pub fn park(&self, cpu: usize) {
        self.cell(cpu).store(WAITS, Ordering::Release);
    }

    /// Whether this parked CPU was released; it counts as running then.
    pub fn take_release(&self, cpu: usize) -> bool {
        self.cell(cpu)
            .compare_exchange(RELEASED, RUNS, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Releases a parked CPU. It has to be woken up afterwards (SEV).
    ///
    /// # Errors
    ///
    /// The number that PSCI has for it.
    pub fn release(&self, cpu: usize) -> Result<(), i64> {
        let released =
            self.cell(cpu)
                .compare_exchange(WAITS, RELEASED, Ordering::AcqRel, Ordering::Acquire);
        match released {
            Ok(_) => Ok(()),
            Err(RELEASED) => Err(error::ON_PENDING),
            Err(RUNS) => Err(error::ALREADY_ON),
            Err(_) => Err(error::INTERNAL_FAILURE),
        }
    }

    /// The answer of AFFINITY_INFO.
    pub fn affinity_info(&self, cpu: usize) -> i64 {
        match self.cell(cpu).load(Ordering::Acquire) {
            RUNS => state::ON,
            RELEASED => state::ON_PENDING,
            _ => state::OFF,
        }
    }
}

impl Default for ParkedCpus {
    fn default() -> Self {
        Self::new()
    }
}

/// What to do about a firmware call that [`decide`](crate::cpu::firmware_calls::decide) lets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Return this.
    Value(i64),
    /// Ask the parked CPUs about the CPU with the MPIDR in the first argument.
    AffinityInfo,
    /// Switch the machine off.
    PowerOff,
    /// Reset it.
    Reset,
}

/// PSCI 1.0.
const VERSION: i64 = 0x1_0000;
/// Answer of MIGRATE_INFO_TYPE: no trusted OS would have to migrate.
const NO_TRUSTED_OS: i64 = 2;

/// Answers `function` with its first two arguments. CPU_OFF and CPU_ON are not answered here.
pub fn answer(function: u32, arguments: [u64; 2]) -> Answer {
    match function & !(1 << 30) {
        0x8400_0000 => Answer::Value(VERSION),
        // Of a CPU, not of a group of CPUs.
        0x8400_0004 if arguments[1] == 0 => Answer::AffinityInfo,
        0x8400_0004 => Answer::Value(error::INVALID_PARAMETERS),
        0x8400_0006 => Answer::Value(NO_TRUSTED_OS),
        0x8400_0008 => Answer::PowerOff,
        0x8400_0009 => Answer::Reset,
        // What may be asked about is here, but for the version of the calling convention.
        0x8400_000a if arguments[0] == 0x8000_0000 => Answer::Value(error::NOT_SUPPORTED),
        0x8400_000a => Answer::Value(0),
        _ => Answer::Value(error::NOT_SUPPORTED),
    }
}

/// AFFINITY_INFO of a CPU that is not there.
pub const UNKNOWN_CPU: i64 = error::INVALID_PARAMETERS;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_is_called_once() {
        let parked = ParkedCpus::new();
        assert_eq!(
            parked.release(1),
            Err(error::INTERNAL_FAILURE),
            "it was never parked"
        );
        assert_eq!(parked.affinity_info(1), state::OFF);
        parked.park(1);
        assert!(!parked.take_release(1), "not released");
        assert_eq!(parked.affinity_info(1), state::OFF);
        assert_eq!(parked.release(1), Ok(()));
        assert_eq!(parked.affinity_info(1), state::ON_PENDING);
        assert_eq!(parked.release(1), Err(error::ON_PENDING));
        assert!(parked.take_release(1));
        assert!(!parked.take_release(1), "it runs");
        assert_eq!(parked.affinity_info(1), state::ON);
        assert_eq!(parked.release(1), Err(error::ALREADY_ON));
        parked.park(1);
        assert_eq!(parked.release(1), Ok(()), "and again");
        assert_eq!(
            parked.release(2),
            Err(error::INTERNAL_FAILURE),
            "another one"
        );
    }

    #[test]
    fn the_cpu_that_boots_runs() {
        let parked = ParkedCpus::new();
        parked.set_running(0);
        assert_eq!(parked.affinity_info(0), state::ON);
        assert_eq!(parked.release(0), Err(error::ALREADY_ON));
    }

    #[test]
    fn calls_are_answered_as_psci_says() {
        assert_eq!(answer(0x8400_0000, [0, 0]), Answer::Value(0x1_0000));
        assert_eq!(answer(0xc400_0004, [1, 0]), Answer::AffinityInfo);
        assert_eq!(
            answer(0xc400_0004, [1, 1]),
            Answer::Value(error::INVALID_PARAMETERS)
        );
        assert_eq!(answer(0x8400_0008, [0, 0]), Answer::PowerOff);
        assert_eq!(answer(0x8400_0009, [0, 0]), Answer::Reset);
        assert_eq!(answer(0x8400_000a, [0xc400_0003, 0]), Answer::Value(0));
        assert_eq!(
            answer(0x8400_000a, [0x8000_0000, 0]),
            Answer::Value(error::NOT_SUPPORTED)
        );
        assert_eq!(
            answer(0x8400_0005, [0, 0]),
            Answer::Value(error::NOT_SUPPORTED)
        );
    }

    #[test]
    fn nothing_that_passes_is_left_without_an_answer() {
        use crate::cpu::firmware_calls::{Decision, decide};
        for low in 0..0x20_u32 {
            for function in [0x8400_0000 | low, 0xc400_0000 | low] {
                let Decision::Pass(passed) = decide(function.into(), 0xc400_0003) else {
                    continue;
                };
                assert_ne!(
                    answer(passed, [0xc400_0003, 0]),
                    Answer::Value(error::NOT_SUPPORTED),
                    "{function:#x}"
                );
            }
        }
    }
}
