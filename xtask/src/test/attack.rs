// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attacks on the gate by Linux, and the same attacks without the protection that they aim at.
//!
//! The guest's side is `arch/arm64/donjon/attack.c`. An attack that cannot succeed without the
//! protection proves nothing about it, so each kind has a control.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use donjon_abi::tcr;

use super::boots::guest_over_says;
use super::runner::Test;
use crate::bare::InnerVariant;
use crate::cli::{HostArguments, MachineArguments, Switch};
use crate::kernel::Variant;
use crate::machine::Machine;

/// An attack that ends in a hang is given up after this; a boot takes about two seconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// `TBI1`: a bit that changes nothing which the gate or Linux would stumble over.
const HARMLESS: u64 = 1 << 38;
const T1SZ_18: u64 = (18 ^ tcr::T1SZ_OUTER) << tcr::T1SZ_SHIFT;
const TG1_64K: u64 = 0b01 << tcr::TG1_SHIFT;
const EPD1: u64 = 1 << 23;

/// How an attack ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The inner domain stops the machine.
    Stop,
    /// The CPU hangs at the vector for synchronous exceptions, in an endless prefetch abort.
    Hang,
    /// The attacker gets what they want.
    Success,
}

#[derive(Clone, Debug)]
struct Attack {
    name: &'static str,
    command: String,
    switch: Switch,
    cpu: Option<&'static str>,
    inner: Option<&'static str>,
    linux: Variant,
    end: End,
}

impl Attack {
    fn sound(name: &'static str, command: String, end: End) -> Self {
        Self {
            name,
            command,
            switch: Switch::Asid,
            cpu: None,
            inner: None,
            linux: Variant::Donjon,
            end,
        }
    }

    fn under(self, switch: Switch) -> Self {
        Self { switch, ..self }
    }

    fn on(self, cpu: &'static str) -> Self {
        Self {
            cpu: Some(cpu),
            ..self
        }
    }

    /// The same without a protection of the inner domain's.
    fn without(self, name: &'static str, feature: &'static str) -> Self {
        Self {
            name,
            inner: Some(feature),
            end: End::Success,
            ..self
        }
    }

    /// The same over vectors that do not compare, and an inner domain that takes them.
    fn over_weak_vectors(self, name: &'static str) -> Self {
        Self {
            name,
            inner: Some("weaken-vectors"),
            linux: Variant::Weakened("vectors"),
            end: End::Success,
            ..self
        }
    }
}

fn attacks() -> Vec<Attack> {
    let forge = |value: u64| format!("forge {value:#x}");
    let harmless = Attack::sound("harmless-bit", forge(tcr::INNER | HARMLESS), End::Stop);
    let exception = Attack::sound(
        "exception-behind-write",
        format!("breakpoint {:#x}", tcr::INNER | HARMLESS),
        End::Stop,
    );
    // With FEAT_HPDS: without it, PXN in the root entry stops this attack, too.
    let geometry = Attack::sound("geometry", "geometry".into(), End::Hang).on("max");
    vec![
        Attack::sound("zero", forge(0), End::Hang),
        Attack::sound("outer-value", forge(tcr::OUTER), End::Stop),
        Attack::sound("wide-without-asid", forge(tcr::INNER & !tcr::A1), End::Stop),
        Attack::sound("asid-without-wide", forge(tcr::OUTER | tcr::A1), End::Stop),
        Attack::sound("no-kernel-walks", forge(tcr::INNER | EPD1), End::Hang),
        Attack::sound("granule-alone", forge(tcr::OUTER ^ TG1_64K), End::Hang),
        Attack::sound("range-alone", forge(tcr::OUTER ^ T1SZ_18), End::Hang),
        harmless.clone().under(Switch::Strict),
        harmless
            .clone()
            .without("harmless-bit:control", "weaken-no-compare"),
        harmless,
        exception
            .clone()
            .over_weak_vectors("exception-behind-write:control"),
        exception,
        // Its control, a level 1 table outside the table block, no longer gets its hostile neighbour:
        // from the hand-over on that table is in the pool, which Linux cannot write
        // (docs/caveats.md).
        geometry,
    ]
}

/// A test for each attack and each control.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let test = |attack: Attack| {
        let host = host.clone();
        let name = format!("attack:{}:{}", attack.switch.name(), attack.name);
        Test::beside(&name, move || carry_out(&host, &attack))
    };
    attacks().into_iter().map(test).collect()
}

fn carry_out(host: &HostArguments, attack: &Attack) -> Result<()> {
    let machine = Machine::new(&MachineArguments {
        cpu: attack.cpu.map(str::to_owned),
        cpus: Some(1),
        append: Some("loglevel=7".into()),
        ..MachineArguments::virt(attack.switch)
    })?;
    let inner = InnerVariant {
        switch: attack.switch,
        weakened: attack.inner.iter().map(|it| (*it).to_owned()).collect(),
    };
    let command = format!(
        "echo '{}' >/sys/kernel/security/donjon/attack; dmesg | grep attack:",
        attack.command
    );
    let said = guest_over_says(host, machine, &inner, attack.linux, &command, PATIENCE);
    match (attack.end, said) {
        (End::Success, Ok(said)) => {
            ensure!(
                said.text.contains("attack: SUCCEEDED"),
                "without the protection it should have succeeded:\n{}",
                said.text
            );
            Ok(())
        }
        (End::Success, Err(error)) => Err(error.context("without the protection it was stopped")),
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
