// SPDX-License-Identifier: MIT OR Apache-2.0
//! Jumps into the gate by Linux itself, and the same jumps without the protection that they aim
//! at. One boot each, because the machine does not survive a jump that is stopped.
//!
//! The guest's side is `arch/arm64/donjon/attack.c`. The exhaustive run over the gate, from
//! outside, is in [`gate`](super::gate).

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use donjon_abi::tcr;

use super::record::Record;
use crate::bare::InnerVariant;
use crate::cli::{HostArguments, MachineArguments, Switch};
use crate::kernel::Variant;
use crate::machine::Machine;
use crate::test::boots::guest_over_says;

/// An attack that ends in a hang is given up after this; a boot takes about two seconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// `TBI1`: a bit that changes nothing which the gate or Linux would stumble over.
const HARMLESS: u64 = 1 << 38;
const T1SZ_18: u64 = (18 ^ tcr::T1SZ_OUTER) << tcr::T1SZ_SHIFT;
const TG1_64K: u64 = 0b01 << tcr::TG1_SHIFT;
const EPD1: u64 = 1 << 23;

/// How a jump ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The inner domain stops the machine.
    Stop,
    /// The CPU hangs at the vector for synchronous exceptions, in an endless prefetch abort.
    Hang,
    /// The attacker gets what they want.
    Success,
}

impl End {
    const fn words(self) -> &'static str {
        match self {
            Self::Stop => "the inner domain stopped the machine",
            Self::Hang => "an endless prefetch abort at the vector",
            Self::Success => "nothing",
        }
    }
}

/// A build in which the jump succeeds.
#[derive(Clone, Copy, Debug)]
struct Control {
    inner: &'static str,
    linux: Variant,
}

/// A jump to the gate's write of `TCR_EL1`.
#[derive(Clone, Debug)]
pub struct Jump {
    /// Its name in tests and on the command line.
    pub name: &'static str,
    /// What it tries.
    pub title: &'static str,
    command: String,
    modes: &'static [Switch],
    cpu: Option<&'static str>,
    end: End,
    control: Option<Control>,
}

impl Jump {
    fn new(name: &'static str, title: &'static str, command: String, end: End) -> Self {
        Self {
            name,
            title,
            command,
            modes: &[Switch::Asid],
            cpu: None,
            end,
            control: None,
        }
    }

    /// Whether a user means this one.
    pub const fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// The modes in which the value is a forged one.
    pub const fn modes(&self) -> &'static [Switch] {
        self.modes
    }

    /// Whether there is a build in which it succeeds.
    pub const fn has_control(&self) -> bool {
        self.control.is_some()
    }

    /// The feature of the inner domain that this build has, if there is one.
    pub fn without(&self) -> Option<&'static str> {
        self.control.map(|it| it.inner)
    }

    /// Fails unless the jump is stopped in the way it has to be.
    pub fn is_stopped(&self, host: &HostArguments, switch: Switch) -> Result<()> {
        self.carry_out(host, switch, None, Variant::Donjon, self.end)
    }

    /// Fails unless the jump succeeds without the protection.
    pub fn control_succeeds(&self, host: &HostArguments) -> Result<()> {
        let Control { inner, linux } = self.control.context("this jump has no control")?;
        self.carry_out(host, Switch::Asid, Some(inner), linux, End::Success)
    }

    /// Makes the jump and its control.
    pub fn record(&self, host: &HostArguments, switch: Switch) -> Record {
        let mut record = Record::new(self.name, self.title, switch);
        match self.is_stopped(host, switch) {
            Ok(()) => record.by.push(self.end.words().to_owned()),
            Err(error) => record.fail(format!("{error:#}")),
        }
        if let Some(control) = self.control {
            let result = self.control_succeeds(host);
            record.add_control(
                &format!("asid+{}", control.inner),
                result.map_err(|error| format!("{error:#}")),
            );
        }
        record
    }

    fn carry_out(
        &self,
        host: &HostArguments,
        switch: Switch,
        weakened: Option<&str>,
        linux: Variant,
        end: End,
    ) -> Result<()> {
        let machine = Machine::new(&MachineArguments {
            cpu: self.cpu.map(str::to_owned),
            cpus: Some(1),
            append: Some("loglevel=7".into()),
            ..MachineArguments::virt(switch)
        })?;
        let inner = InnerVariant {
            switch,
            weakened: weakened.iter().map(|it| (*it).to_owned()).collect(),
        };
        let command = format!(
            "echo '{}' >/sys/kernel/security/donjon/attack; dmesg | grep attack:",
            self.command
        );
        let said = guest_over_says(host, machine, &inner, linux, &command, PATIENCE);
        match (end, said) {
            (End::Success, Ok(said)) => {
                ensure!(
                    said.text.contains("attack: SUCCEEDED"),
                    "without the protection it should have succeeded:\n{}",
                    said.text
                );
                Ok(())
            }
            (End::Success, Err(error)) => {
                Err(error.context("without the protection it was stopped"))
            }
            (_, Ok(said)) => bail!("the guest went on:\n{}", said.text),
            (End::Stop, Err(error)) => {
                let text = format!("{error:#}");
                ensure!(
                    text.contains("donjon: PANIC") && text.contains("attack: jumping"),
                    "not a stop by the inner domain: {text}"
                );
                Ok(())
            }
            (End::Hang, Err(error)) => hangs_at_vector(&format!("{error:#}")),
        }
    }
}

/// All of them.
pub fn all() -> Vec<Jump> {
    let forge =
        |name, title, value: u64, end| Jump::new(name, title, format!("forge {value:#x}"), end);
    vec![
        forge("zero", "write 0", 0, End::Hang),
        forge(
            "outer-value",
            "write the outer value",
            tcr::OUTER,
            End::Stop,
        ),
        forge(
            "wide-without-asid",
            "the 48-bit view with Linux's ASID",
            tcr::INNER & !tcr::A1,
            End::Stop,
        ),
        forge(
            "asid-without-wide",
            "the reserved ASID in the outer view",
            tcr::OUTER | tcr::A1,
            End::Stop,
        ),
        forge(
            "no-kernel-walks",
            "no walks of the upper range",
            tcr::INNER | EPD1,
            End::Hang,
        ),
        forge(
            "granule-alone",
            "another granule",
            tcr::OUTER ^ TG1_64K,
            End::Hang,
        ),
        forge(
            "range-alone",
            "another range",
            tcr::OUTER ^ T1SZ_18,
            End::Hang,
        ),
        Jump {
            modes: &[Switch::Asid, Switch::Strict],
            control: Some(Control {
                inner: "weaken-no-compare",
                linux: Variant::Donjon,
            }),
            ..forge(
                "harmless-bit",
                "the inner value with one bit more",
                tcr::INNER | HARMLESS,
                End::Stop,
            )
        },
        Jump {
            control: Some(Control {
                inner: "weaken-vectors",
                linux: Variant::Weakened("vectors"),
            }),
            ..Jump::new(
                "exception-behind-write",
                "a breakpoint between the write and the comparison",
                format!("breakpoint {:#x}", tcr::INNER | HARMLESS),
                End::Stop,
            )
        },
        // With FEAT_HPDS: without it, PXN in the root entry stops this attack, too. Its control is
        // `gate-run:geometry:control`, from outside: Linux itself has no frame left in which a
        // hostile table would be read.
        Jump {
            cpu: Some("max"),
            ..Jump::new(
                "geometry",
                "granule and range forged together, with a hostile table beside the linear map's",
                "geometry".into(),
                End::Hang,
            )
        },
    ]
}

/// The CPU stands at the vector for synchronous exceptions from EL1, which is the attack's own.
fn hangs_at_vector(text: &str) -> Result<()> {
    ensure!(
        text.contains("the guest hung") && !text.contains("SUCCEEDED"),
        "not a hang: {text}"
    );
    let after = |mark: &str| {
        let (_, rest) = text.split_once(mark)?;
        let digits = rest.split(|it: char| !it.is_ascii_hexdigit()).next()?;
        u64::from_str_radix(digits, 16).ok()
    };
    let vector = after("vectors at 0x").context("the attack did not say where the vectors are")?;
    let place = after(" PC=").context("QEMU gave no registers")?;
    ensure!(
        place == vector,
        "the CPU hangs at {place:#x}, not at the vector {vector:#x}: {text}"
    );
    Ok(())
}
