// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks how CPUs are started: by PSCI, or by the inner domain in its place, or the machine is
//! refused.
//!
//! The inner domain owns the firmware's calls, so it decides where a CPU that PSCI starts begins.
//! A CPU that waits for a word in memory (`spin-table`), or for anything else that Linux can
//! write, begins where Linux wants, at EL2 perhaps. On a board that is known for it the boot stage
//! takes all of them out of there before Linux starts ([`Conduit::Emulated`]).
//!
//! A CPU whose status is `disabled` counts like any other: for a CPU the word means that it waits
//! for what its `enable-method` says (Devicetree Specification 0.4, 3.8.1). One that has failed
//! (`fail`, `fail-...`) is not there: Linux leaves it out, and so do we.

use donjon_abi::boot_info::Conduit;
use thiserror::Error;

/// What the device tree says about a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuNode<'a> {
    /// Affinity, from `reg`.
    pub affinity: u64,
    /// `enable-method` of the CPU, or else of all CPUs.
    pub enable_method: Option<&'a str>,
    /// `cpu-release-addr`.
    pub release: Option<u64>,
    /// `status`.
    pub status: Option<&'a str>,
}

impl CpuNode<'_> {
    /// Whether there is such a CPU.
    pub fn exists(&self) -> bool {
        self.status.is_none_or(|it| !it.starts_with("fail"))
    }
}

/// Why the machine has a CPU that the inner domain cannot own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StartError<'a> {
    /// A CPU is not started by PSCI.
    #[error(
        "CPU {affinity:#x} is started by `{method}` and not by PSCI: Linux could start it at any address by writing memory; Donjon needs firmware with PSCI"
    )]
    Method {
        /// The CPU.
        affinity: u64,
        /// `enable-method` of the CPU.
        method: &'a str,
    },
    /// No word about it.
    #[error(
        "the device tree does not say how CPU {affinity:#x} is started (enable-method); Donjon needs PSCI"
    )]
    NoMethod {
        /// The CPU.
        affinity: u64,
    },
    /// A CPU waits for a word of memory, and the tree does not say which.
    #[error("the device tree does not say where CPU {affinity:#x} waits (cpu-release-addr)")]
    NoRelease {
        /// The CPU.
        affinity: u64,
    },
    /// Nothing answers PSCI's calls.
    #[error("there are {cpus} CPUs and no PSCI 0.2 or later that could start them")]
    NoFirmware {
        /// Number of CPUs.
        cpus: usize,
    },
}

/// Checks that nothing but PSCI can start a CPU. A machine with one CPU needs no PSCI: there is
/// nothing to start, and only the power cannot be switched off.
///
/// # Errors
///
/// The first CPU that something else would start.
pub fn check<'a>(
    nodes: impl Iterator<Item = CpuNode<'a>> + Clone,
    conduit: Conduit,
) -> Result<(), StartError<'a>> {
    let existing = nodes.filter(CpuNode::exists);
    let cpus = existing.clone().count();
    for cpu in existing {
        let affinity = cpu.affinity;
        match cpu.enable_method {
            Some("spin-table") if conduit == Conduit::Emulated => match cpu.release {
                Some(word) if word.is_multiple_of(8) => (),
                _ => return Err(StartError::NoRelease { affinity }),
            },
            Some("psci") if conduit != Conduit::Emulated => (),
            Some(method) => return Err(StartError::Method { affinity, method }),
            None if cpus > 1 => return Err(StartError::NoMethod { affinity }),
            None => (),
        }
    }
    if cpus > 1 && conduit == Conduit::None {
        return Err(StartError::NoFirmware { cpus });
    }
    Ok(())
}

/// Whether the inner domain takes the CPUs over where no PSCI is called: on a board whose `power`
/// controller it can drive, and which `entered` the image at EL2, so that all CPUs are released
/// at EL2 and leave it as the first one did.
pub const fn without_psci(conduit: Conduit, power: bool, entered_at: u64) -> Conduit {
    match conduit {
        Conduit::None if power && entered_at == 2 => Conduit::Emulated,
        conduit => conduit,
    }
}

/// How PSCI is called, by the `method` of its node and the level that the machine was entered at.
/// HVC leads to EL2: a machine that enters the image there has no firmware behind it.
pub fn conduit(method: Option<&str>, entered_at: u64) -> Conduit {
    match method {
        Some("hvc") if entered_at < 2 => Conduit::Hvc,
        Some("smc") => Conduit::Smc,
        _ => Conduit::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    const fn cpu(affinity: u64, enable_method: Option<&str>) -> CpuNode<'_> {
        CpuNode {
            affinity,
            enable_method,
            release: None,
            status: None,
        }
    }

    fn checked<'a>(cpus: &'a [CpuNode<'a>], conduit: Conduit) -> Result<(), StartError<'a>> {
        check(cpus.iter().copied(), conduit)
    }

    #[test]
    fn psci_starts_any_number() {
        let cpus = [cpu(0, Some("psci")), cpu(1, Some("psci"))];
        for conduit in [Conduit::Hvc, Conduit::Smc] {
            assert_eq!(checked(&cpus, conduit), Ok(()));
        }
        assert_eq!(
            checked(&cpus, Conduit::None),
            Err(StartError::NoFirmware { cpus: 2 })
        );
    }

    #[test]
    fn cpus_in_a_pen_are_taken_over_on_a_known_board_alone() {
        let conduit = without_psci(Conduit::None, true, 2);
        assert_eq!(conduit, Conduit::Emulated);
        assert_eq!(without_psci(Conduit::None, false, 2), Conduit::None);
        assert_eq!(without_psci(Conduit::None, true, 1), Conduit::None);
        assert_eq!(without_psci(Conduit::Smc, true, 2), Conduit::Smc);
        let waits = |affinity, release| CpuNode {
            release,
            ..cpu(affinity, Some("spin-table"))
        };
        let cpus = [waits(0, Some(0xd8)), waits(1, Some(0xe0))];
        assert_eq!(checked(&cpus, conduit), Ok(()));
        for release in [None, Some(0xe1)] {
            let cpus = [waits(0, Some(0xd8)), waits(1, release)];
            let refused = StartError::NoRelease { affinity: 1 };
            assert_eq!(checked(&cpus, conduit), Err(refused));
        }
        let mixed = [waits(0, Some(0xd8)), cpu(1, Some("psci"))];
        assert!(checked(&mixed, conduit).is_err());
        let other = [waits(0, Some(0xd8)), cpu(1, Some("brcm,bcm2836-smp"))];
        assert!(checked(&other, conduit).is_err());
    }

    #[test]
    fn a_pen_on_an_unknown_board_is_refused() {
        let cpus = [0, 1, 2, 3].map(|it| cpu(it, Some("spin-table")));
        let refused = checked(&cpus, Conduit::None).expect_err("a pen in memory");
        assert_eq!(
            refused,
            StartError::Method {
                affinity: 0,
                method: "spin-table"
            }
        );
        assert!(refused.to_string().contains("`spin-table` and not by PSCI"));
        let mixed = [cpu(0, Some("psci")), cpu(1, Some("spin-table"))];
        assert!(checked(&mixed, Conduit::Smc).is_err());
        let alone = [cpu(0, Some("spin-table"))];
        assert!(checked(&alone, Conduit::Smc).is_err(), "the pen is there");
    }

    #[test]
    fn several_cpus_without_a_method_are_refused() {
        let cpus = [cpu(0, Some("psci")), cpu(0x100, None)];
        assert_eq!(
            checked(&cpus, Conduit::Smc),
            Err(StartError::NoMethod { affinity: 0x100 })
        );
        assert_eq!(checked(&[cpu(0, None)], Conduit::None), Ok(()));
    }

    #[test]
    fn a_disabled_cpu_waits_and_a_failed_one_does_not() {
        let second = |status| CpuNode {
            status: Some(status),
            ..cpu(1, Some("spin-table"))
        };
        for status in ["okay", "disabled", "reserved", "anything"] {
            let cpus = [cpu(0, Some("psci")), second(status)];
            assert!(checked(&cpus, Conduit::Smc).is_err(), "{status}");
        }
        for status in ["fail", "fail-sss"] {
            let cpus = [cpu(0, None), second(status)];
            assert_eq!(checked(&cpus, Conduit::None), Ok(()), "{status}");
        }
    }

    #[test]
    fn who_is_at_el2_is_not_called_by_hvc() {
        assert_eq!(conduit(Some("hvc"), 1), Conduit::Hvc);
        assert_eq!(conduit(Some("hvc"), 2), Conduit::None);
        assert_eq!(conduit(Some("smc"), 2), Conduit::Smc);
        assert_eq!(conduit(Some("abc"), 1), Conduit::None);
        assert_eq!(conduit(None, 1), Conduit::None);
    }
}
