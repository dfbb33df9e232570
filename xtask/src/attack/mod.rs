// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask attack`: a hostile kernel tries to get through, and each attempt that fails is
//! made again where the protection that it aims at is switched off. An attack that fails there as
//! well proves nothing.
//!
//! The attacks themselves are in the guest: `arch/arm64/donjon/attack/` in `kernel-patch/files`,
//! one file each, in a module that nothing else carries. Here, in [`list`], stands what they are,
//! what has to stop them, and what their control is. One boot serves all attempts that a machine
//! survives; after each attack the machine is stopped and audited with what is left of it in
//! place. Jumps into the gate, which no machine survives, are in [`jumps`].

mod attempt;
mod campaign;
pub mod gate;
mod guest;
mod judge;
pub mod jumps;
pub mod known;
mod list;
mod record;

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Result, bail, ensure};

use crate::bare::InnerVariant;
use crate::cli::{AttackArguments, HostArguments, MachineArguments, SingleAttack, Switch};
use crate::environment::{self, Needs};
use crate::json;
use crate::kernel::Variant;
use crate::machine::Machine;
use crate::run::{self, Parts};

pub use attempt::Without;
use attempt::{Attack, Attempt};
use campaign::Campaign;
use guest::Tried;
pub use guest::arm;
use judge::Verdict;
use list::ALL;
use record::Record;

/// Enough for two CPUs to race.
const CPUS: u32 = 2;

/// Runs; returns the exit status.
pub fn run(arguments: &AttackArguments) -> Result<u8> {
    if let Some(SingleAttack::Gate(arguments)) = &arguments.single {
        return gate::run_command(arguments);
    }
    let campaign = chosen(&arguments.only, arguments.switch)?;
    if arguments.list {
        for attack in campaign.attacks {
            println!("{:<22} {}", attack.id, attack.title);
        }
        for jump in campaign.jumps {
            println!("{:<22} {}", jump.name, jump.title);
        }
        if !campaign.gate.is_empty() {
            println!("{:<22} {}", gate::NAME, gate::TITLE);
        }
        return Ok(0);
    }
    json::can_write(arguments.json.as_deref())?;
    ensure!(
        arguments.switch != Switch::None,
        "without an inner domain (--switch none) there is nothing to attack"
    );
    environment::prepare(&arguments.host, Needs::default())?;
    let start = Instant::now();
    let records = campaign.carry_out(&Bench {
        host: &arguments.host,
        switch: arguments.switch,
    })?;
    for record in &records {
        println!("{record}");
    }
    json::write(arguments.json.as_deref(), &records)?;
    println!("{}", totals(&records, start.elapsed().as_secs()));
    Ok(u8::from(!records.iter().all(Record::is_good)))
}

fn totals(records: &[Record], seconds: u64) -> String {
    let stopped = records.iter().filter(|it| it.outcome == "stopped").count();
    let controls = |state| records.iter().filter(|it| it.control == state).count();
    format!(
        "{} attacks, {stopped} stopped; of {} with controls {} failed; {} audit violations; in {seconds} s",
        records.len(),
        records.len() - controls("n/a"),
        controls("failed"),
        records.iter().map(|it| it.audit_violations).sum::<usize>(),
    )
}

/// Carries all attacks out with all protections on; fails unless every one is stopped.
pub fn all_are_stopped(bench: Bench<'_>) -> Result<()> {
    all_good(bench.protected(ALL)?)
}

/// Carries the controls out that want these protections off; fails unless all succeed.
pub fn controls_succeed(bench: Bench<'_>, without: Without) -> Result<()> {
    let attacks = by_protection(ALL).remove(&without).unwrap_or_default();
    ensure!(!attacks.is_empty(), "no attack has such a control");
    let tried = bench.without(without, &attacks)?;
    let verdicts = attacks.iter().map(|attack| {
        let mut verdict = Verdict::new(attack, bench.switch);
        verdict.add_controls(without, &tried);
        verdict
    });
    all_good(verdicts.collect())
}

fn all_good(verdicts: Vec<Verdict>) -> Result<()> {
    let records = verdicts.into_iter().map(Verdict::record);
    let bad = records.filter(|it| !it.is_good());
    let bad: Vec<_> = bad.map(|it| it.to_string()).collect();
    ensure!(bad.is_empty(), "{}", bad.join("\n"));
    Ok(())
}

/// What the controls of all attacks are built without.
pub fn protections() -> Vec<Without> {
    by_protection(ALL).into_keys().collect()
}

/// What `only` names, or everything; jumps only where they mean something in that mode, and the
/// runs through the gate of every mode.
fn chosen(only: &[String], switch: Switch) -> Result<Campaign> {
    let jumps = jumps::all();
    for id in only {
        let is_gate = id.eq_ignore_ascii_case(gate::NAME);
        if !is_gate && !ALL.iter().any(|it| it.is(id)) && !jumps.iter().any(|it| it.is(id)) {
            let known = ALL.iter().map(|it| it.id);
            let known = known.chain(jumps.iter().map(|it| it.name));
            let known: Vec<_> = known.chain([gate::NAME]).collect();
            bail!(
                "there is no attack {id} (`--list` shows them); there are {}",
                known.join(", ")
            );
        }
    }
    let wanted = |is: &dyn Fn(&str) -> bool| only.is_empty() || only.iter().any(|id| is(id));
    Ok(Campaign {
        attacks: ALL
            .iter()
            .copied()
            .filter(|it| wanted(&|id| it.is(id)))
            .collect(),
        jumps: jumps
            .into_iter()
            .filter(|it| it.modes().contains(&switch) && wanted(&|id| it.is(id)))
            .collect(),
        gate: if wanted(&|id| id.eq_ignore_ascii_case(gate::NAME)) {
            vec![Switch::Asid, Switch::Strict, Switch::Tlbi]
        } else {
            Vec::new()
        },
    })
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

    /// Carries the controls of `attacks` out where one protection is off.
    fn without(
        &self,
        without: Without,
        attacks: &[&'static Attack],
    ) -> Result<BTreeMap<&'static str, Tried>> {
        self.survivable(without, attacks, |attack, attempt| {
            let controls = attack.controls.iter().filter(|it| it.without == without);
            controls
                .flat_map(|it| it.attempts)
                .any(|it| *it == attempt.name)
        })
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
                groups
                    .entry(attack.cpu)
                    .or_default()
                    .push((*attack, attempts));
            }
        }
        let mut all = BTreeMap::new();
        for (cpu, group) in groups {
            let parts = self.parts(without, cpu)?;
            all.extend(guest::together(&parts, &group)?);
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
        let sound = Variant::of(&machine);
        let linux = without.linux.map_or(sound, Variant::Weakened);
        let mut parts = run::prepare_over(self.host, machine, &inner, linux)?;
        guest::arm(&mut parts)?;
        Ok(parts)
    }
}
