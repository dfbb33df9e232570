// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask attack`: a hostile kernel tries to get through, and each attempt that fails is
//! made again where the protection that it aims at is switched off. An attack that fails there as
//! well proves nothing.
//!
//! The attacks themselves are in the guest: `arch/arm64/donjon/attack/` in `kernel-patch/files`,
//! one file each, in a module that nothing else carries. Here, in [`list`], stands what they are,
//! what has to stop them, and what their control is. One boot serves all attempts that a machine
//! survives; after each attack the machine is stopped and audited with what is left of it in
//! place.

mod attempt;
mod guest;
mod judge;
mod list;

use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};

use crate::bare::InnerVariant;
use crate::cli::{AttackArguments, HostArguments, MachineArguments, Switch};
use crate::environment::{self, Needs};
use crate::json;
use crate::kernel::Variant;
use crate::machine::Machine;
use crate::run::{self, Parts};

pub use attempt::Without;
use attempt::{Attack, Attempt};
use guest::Tried;
pub use guest::arm;
use judge::Verdict;
use list::ALL;

/// Enough for two CPUs to race.
const CPUS: u32 = 2;

/// What makes the parts of a boot: [`run::prepare_over`], or the same one at a time.
pub type Builder = fn(&HostArguments, Machine, &InnerVariant, Variant) -> Result<Parts>;

/// Runs; returns the exit status.
pub fn run(arguments: &AttackArguments) -> Result<u8> {
    let attacks = chosen(&arguments.only)?;
    if arguments.list {
        for attack in attacks {
            println!("{:<4} {}", attack.id, attack.title);
        }
        return Ok(0);
    }
    json::can_write(arguments.json.as_deref())?;
    ensure!(
        arguments.switch != Switch::None,
        "without an inner domain (--switch none) there is nothing to attack"
    );
    environment::prepare(&arguments.host, Needs::default())?;
    let bench = Bench {
        host: &arguments.host,
        build: run::prepare_over,
        switch: arguments.switch,
    };
    let mut verdicts = bench.protected(&attacks)?;
    for (without, attacks) in by_protection(&attacks) {
        bench.controls(without, &attacks, &mut verdicts)?;
    }
    for verdict in &verdicts {
        println!("{verdict}");
    }
    let records: Vec<_> = verdicts.iter().map(Verdict::record).collect();
    json::write(arguments.json.as_deref(), &records)?;
    Ok(u8::from(!verdicts.iter().all(Verdict::is_good)))
}

/// Carries all attacks out with all protections on; fails unless every one is stopped.
pub fn all_are_stopped(bench: Bench<'_>) -> Result<()> {
    all_good(&bench.protected(ALL)?)
}

/// Carries the controls out that want these protections off; fails unless all succeed.
pub fn controls_succeed(bench: Bench<'_>, without: Without) -> Result<()> {
    let attacks = by_protection(ALL).remove(&without).unwrap_or_default();
    ensure!(!attacks.is_empty(), "no attack has such a control");
    let new = |it: &&'static Attack| Verdict::new(it, bench.switch);
    let mut verdicts: Vec<_> = attacks.iter().map(new).collect();
    bench.controls(without, &attacks, &mut verdicts)?;
    all_good(&verdicts)
}

fn all_good(verdicts: &[Verdict]) -> Result<()> {
    let bad = verdicts.iter().filter(|it| !it.is_good());
    let bad: Vec<_> = bad.map(Verdict::to_string).collect();
    ensure!(bad.is_empty(), "{}", bad.join("\n"));
    Ok(())
}

/// What the controls of all attacks are built without.
pub fn protections() -> Vec<Without> {
    by_protection(ALL).into_keys().collect()
}

fn chosen(ids: &[String]) -> Result<Vec<&'static Attack>> {
    if let Some(unknown) = ids.iter().find(|id| !ALL.iter().any(|it| it.is(id))) {
        let known: Vec<_> = ALL.iter().map(|it| it.id).collect();
        bail!(
            "there is no attack {unknown} (`--list` shows them); there are {}",
            known.join(", ")
        );
    }
    let wanted = |it: &&&Attack| ids.is_empty() || ids.iter().any(|id| it.is(id));
    Ok(ALL.iter().filter(wanted).copied().collect())
}

/// The attacks that have a control without each of the protections.
fn by_protection(attacks: &[&'static Attack]) -> BTreeMap<Without, Vec<&'static Attack>> {
    let mut sorted: BTreeMap<_, Vec<&Attack>> = BTreeMap::new();
    for attack in attacks {
        for control in attack.controls {
            let group = sorted.entry(control.without).or_default();
            if !group.iter().any(|it| it.id == attack.id) {
                group.push(*attack);
            }
        }
    }
    sorted
}

/// Where attacks are carried out.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    /// The host.
    pub host: &'a HostArguments,
    /// What builds.
    pub build: Builder,
    /// How the inner domain is entered.
    pub switch: Switch,
}

impl Bench<'_> {
    /// Carries `attacks` out with all protections on.
    fn protected(&self, attacks: &[&'static Attack]) -> Result<Vec<Verdict>> {
        let mut tried = self.survivable(Without::NOTHING, attacks, |_, _| true)?;
        for attack in attacks {
            let mut alone = Vec::new();
            for attempt in attack.attempts.iter().filter(|it| it.is_fatal()) {
                let parts = self.parts(Without::NOTHING, attack.cpu)?;
                alone.push(guest::alone(&parts, attack, attempt)?);
            }
            let tried = tried.entry(attack.id).or_default();
            tried.attempts.extend(alone);
        }
        let nothing = Tried::default();
        let verdict = |attack: &&'static Attack| {
            let tried = tried.get(attack.id).unwrap_or(&nothing);
            Verdict::of(attack, self.switch, tried)
        };
        Ok(attacks.iter().map(verdict).collect())
    }

    /// Carries the controls of `attacks` out where one protection is off, and notes what came of
    /// them.
    fn controls(
        &self,
        without: Without,
        attacks: &[&'static Attack],
        verdicts: &mut [Verdict],
    ) -> Result<()> {
        let concerns = |attack: &Attack, attempt: &Attempt| {
            let controls = attack.controls.iter().filter(|it| it.without == without);
            controls
                .flat_map(|it| it.attempts)
                .any(|it| *it == attempt.name)
        };
        let tried = self.survivable(without, attacks, concerns)?;
        let nothing = Tried::default();
        for verdict in verdicts {
            let tried = tried.get(verdict.attack.id).unwrap_or(&nothing);
            let controls = verdict.attack.controls.iter();
            for control in controls.filter(|it| it.without == without) {
                verdict.add(control, tried);
            }
        }
        Ok(())
    }

    /// All attempts that are wanted and that the machine survives, one boot for each CPU model.
    fn survivable(
        &self,
        without: Without,
        attacks: &[&'static Attack],
        wanted: impl Fn(&Attack, &Attempt) -> bool,
    ) -> Result<BTreeMap<&'static str, Tried>> {
        let control = without != Without::NOTHING;
        let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for attack in attacks {
            let attempts: Vec<_> = attack
                .attempts
                .iter()
                .filter(|it| wanted(attack, it))
                // Where it succeeds it is survived, or it would not be known that it did.
                .filter(|it| control || !it.is_fatal())
                .collect();
            if !attempts.is_empty() {
                let group = groups.entry(attack.cpu).or_default();
                group.push((*attack, attempts));
            }
        }
        let mut all = BTreeMap::new();
        for (cpu, group) in groups {
            all.extend(guest::together(&self.parts(without, cpu)?, &group)?);
        }
        Ok(all)
    }

    fn parts(&self, without: Without, cpu: Option<&str>) -> Result<Parts> {
        let machine = Machine::new(&MachineArguments {
            cpu: cpu.map(str::to_owned),
            cpus: Some(CPUS),
            memory: Some("256M".into()),
            append: Some("loglevel=7".into()),
            ..MachineArguments::virt(self.switch)
        })?;
        let inner = InnerVariant {
            switch: self.switch,
            weakened: without.inner.iter().map(|it| (*it).to_owned()).collect(),
        };
        let linux = without.linux.map_or(Variant::Donjon, Variant::Weakened);
        let mut parts = (self.build)(self.host, machine, &inner, linux)?;
        guest::arm(&mut parts)?;
        Ok(parts)
    }
}
