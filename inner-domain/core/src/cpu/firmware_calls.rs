// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which firmware calls Linux may make.
//!
//! PSCI (DEN 0022) can start a CPU anywhere with its MMU off, which would be the whole machine,
//! so the list is short. Functions that are missing here do not exist as far as Linux can see:
//! `PSCI_FEATURES` says so as well.

/// Function identifiers, with bit 30 (64-bit convention) clear.
mod id {
    pub const SMCCC_VERSION: u32 = 0x8000_0000;
    pub const SMCCC_ARCH_FEATURES: u32 = 0x8000_0001;
    pub const PSCI_VERSION: u32 = 0x8400_0000;
    pub const CPU_OFF: u32 = 0x8400_0002;
    pub const CPU_ON: u32 = 0x8400_0003;
    pub const AFFINITY_INFO: u32 = 0x8400_0004;
    pub const MIGRATE_INFO_TYPE: u32 = 0x8400_0006;
    pub const SYSTEM_OFF: u32 = 0x8400_0008;
    pub const SYSTEM_RESET: u32 = 0x8400_0009;
    pub const PSCI_FEATURES: u32 = 0x8400_000a;
    /// Version of the source of random numbers (DEN 0098).
    pub const TRNG_VERSION: u32 = 0x8400_0050;
    /// Version of the interface to secure partitions (DEN 0077).
    pub const FFA_VERSION: u32 = 0x8400_0063;
}

/// What each owner of a range of functions answers about itself (DEN 0028, 6.2): how many calls it
/// has, by which UUID it is known, and its revision.
const QUERIES: [u32; 3] = [0xff00, 0xff01, 0xff03];
/// Bits of an identifier that name a query of any owner: a fast call with arguments of 32 bits, in
/// the range of an owner below 64.
const QUERY: u32 = 0xc0ff_ffff;

/// Bit 30 of an identifier: the arguments have 64 bits.
const WIDE: u32 = 1 << 30;

/// What to do with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Make it.
    Pass(u32),
    /// Make it after the CPU's state has been cleared.
    CpuOff(u32),
    /// Make it after the memory of compartments was wiped: the machine stops, or begins again.
    Stop(u32),
    /// Say that the firmware has no such function: asking is no offence.
    NotSupported,
    /// Refuse it.
    Refuse,
}

/// Decides about function `function` with first argument `argument`.
pub const fn decide(function: u64, argument: u64) -> Decision {
    if function >> 32 != 0 {
        return Decision::Refuse;
    }
    let function = function as u32;
    match function & !WIDE {
        id::SMCCC_VERSION | id::PSCI_VERSION | id::AFFINITY_INFO | id::MIGRATE_INFO_TYPE => {
            Decision::Pass(function)
        }
        id::SYSTEM_OFF | id::SYSTEM_RESET => Decision::Stop(function),
        id::CPU_OFF => Decision::CpuOff(function),
        id::PSCI_FEATURES => match (argument as u32) & !WIDE {
            // Linux starts CPUs through CPU_ON of the inner domain, and asks here first.
            id::SMCCC_VERSION
            | id::CPU_ON
            | id::CPU_OFF
            | id::AFFINITY_INFO
            | id::SYSTEM_OFF
            | id::SYSTEM_RESET
            | id::PSCI_FEATURES => Decision::Pass(function),
            _ => Decision::NotSupported,
        },
        // The work-arounds are calls at each exception; none is on the list.
        id::SMCCC_ARCH_FEATURES => Decision::NotSupported,
        // Linux's drivers ask at each boot whether these are there. The firmware is not asked.
        id::TRNG_VERSION | id::FFA_VERSION if function & WIDE == 0 => Decision::NotSupported,
        _ if is_query(function) => Decision::NotSupported,
        _ => Decision::Refuse,
    }
}

/// Whether a call asks what an owner of functions is: Linux asks a hypervisor so whether it is KVM.
const fn is_query(function: u32) -> bool {
    let query = function & QUERY;
    let mut index = 0;
    while index < QUERIES.len() {
        if query == 1 << 31 | QUERIES[index] {
            return true;
        }
        index += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_starts_or_resumes_a_cpu_is_refused() {
        for function in [
            0x8400_0003_u64,
            0xc400_0003,
            0x8400_0001,
            0xc400_0001,
            0xc400_000e,
        ] {
            assert_eq!(decide(function, 0), Decision::Refuse, "{function:#x}");
        }
    }

    #[test]
    fn suspend_does_not_exist() {
        for asked in [0xc400_0001_u64, 0x8400_0001, 0xc400_000e, 0xc400_0012] {
            assert_eq!(decide(0x8400_000a, asked), Decision::NotSupported);
        }
    }

    #[test]
    fn stopping_is_allowed_and_asking_too() {
        assert_eq!(decide(0x8400_0002, 0), Decision::CpuOff(0x8400_0002));
        for function in [0x8400_0000_u32, 0xc400_0004] {
            assert_eq!(decide(function.into(), 0), Decision::Pass(function));
        }
        for function in [0x8400_0008_u32, 0x8400_0009] {
            assert_eq!(decide(function.into(), 0), Decision::Stop(function));
        }
        assert_eq!(
            decide(0x8400_000a, 0xc400_0003),
            Decision::Pass(0x8400_000a)
        );
    }

    #[test]
    fn vendors_and_secure_services_are_refused() {
        for function in [
            0x8200_0000_u64,
            0xb200_0000,
            // Features and services of KVM, random numbers, secure partitions, SDEI.
            0x8600_0000,
            0x8600_0001,
            0x8400_0051,
            0xc400_0053,
            0x8400_0064,
            0xc400_0020,
            // What resembles a query.
            0xc600_ff01,
            0x0600_ff01,
            0x8601_ff01,
            0x8600_ff02,
            0xc400_0050,
            1 << 32,
            1 << 32 | 0x8600_ff01,
        ] {
            assert_eq!(decide(function, 0), Decision::Refuse, "{function:#x}");
        }
    }

    #[test]
    fn asking_what_is_there_is_answered_without_the_firmware() {
        // As a guest of KVM, Linux asks for random numbers and for the hypervisor; drivers ask for
        // secure partitions and for a trusted OS.
        for function in [
            0x8400_0050_u64,
            0x8600_ff01,
            0x8400_0063,
            0xbf00_ff01,
            0x8400_ff01,
            0x8200_ff03,
        ] {
            let decision = decide(function, 0);
            assert_eq!(decision, Decision::NotSupported, "{function:#x}");
        }
    }
}
