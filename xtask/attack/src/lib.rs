// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask attack`: a hostile kernel tries to get through, and each attempt that fails is
//! made again where the protection that it aims at is switched off. An attack that fails there as
//! well proves nothing.
//!
//! The attacks themselves are in the guest: `arch/arm64/donjon/attack/` in `kernel-patch/files`,
//! in a module that nothing else carries. Here, in `list`, a row says what each of them is, what
//! has to stop it, and what its control is. One boot serves all attempts that a machine survives;
//! after each attack the machine is stopped and audited with what is left of it in place. An
//! attempt that no machine survives has a boot of its own. The runs through the gate from outside,
//! in [`gate`], are one of the rows; attacks that a verifier has to stop, in [`paths`], are others.

pub mod arguments;
mod attempt;
mod campaign;
#[cfg(test)]
mod fuzzed;
pub mod gate;
mod guest;
mod judge;
mod list;
pub mod paths;
mod record;
mod stale;
mod table;

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Error, Result, anyhow, bail, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::kernel::Variant;
use donjon_builder::run::{self, Parts};
use donjon_figures::records::attacks::STOPPED;
use donjon_machine::arguments::{MachineArguments, Switch, VIRT};
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{DiskImage, empty_disk};

use crate::arguments::{AttackArguments, AttackCommand};

pub use attempt::{Attack, Control, Part, Without};
use attempt::{Attempt, MODES};
use campaign::Campaign;
use guest::Tried;
pub use guest::{MODULE, arm};
use judge::Judgement;
pub use list::all;
use record::Record;
pub use table::run as write_table;

/// Enough for two CPUs to race.
const CPUS: u32 = 2;

/// Bytes of a disk of a few pages, which an attack writes to.
const DISK: u64 = 1 << 20;
/// Machine with a USB controller.
const WITH_USB: &str = "raspi3b";
/// Requests that a disk behind it answers in a second. The attacker does something while one is on
/// its way.
const USB_REQUESTS: u32 = 5;
/// Requests that a disk behind an SMMU answers in a second. The attacker makes one call while one
/// is on its way.
const REQUESTS: u32 = 100;

/// Runs; returns the exit status.
pub fn run(arguments: &AttackArguments) -> Result<u8> {
    match &arguments.single {
        Some(AttackCommand::Gate(arguments)) => return gate::run_command(arguments),
        Some(AttackCommand::Stale(arguments)) => return stale::run(arguments),
        Some(AttackCommand::Table { check }) => return table::run(*check).map(|()| 0),
        None => {}
    }
    let campaign = chosen(&arguments.only, arguments.switch, &arguments.machine)?;
    if arguments.list {
        for attack in campaign.attacks {
            println!("{:<22} {}", attack.id(), attack.describe());
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
        machine: &arguments.machine,
    })?;
    for record in &records {
        println!("{record}");
    }
    let documents: Vec<_> = records.iter().map(Record::document).collect();
    json::write(arguments.json.as_deref(), &documents)?;
    println!("{}", totals(&records, start.elapsed().as_secs()));
    Ok(u8::from(!records.iter().all(Record::is_good)))
}

fn totals(records: &[Record], seconds: u64) -> String {
    let stopped = records.iter().filter(|it| it.outcome == STOPPED).count();
    let controls = |state| records.iter().filter(|it| it.control == state).count();
    format!(
        "{} attacks, {stopped} stopped; of {} with controls {} failed; {} audit violations; in {seconds} s",
        records.len(),
        records.len() - controls("n/a"),
        controls("failed"),
        records.iter().map(|it| it.audit_violations).sum::<usize>(),
    )
}

/// Carries all attacks out that a machine survives, with all protections on; fails unless every
/// one is stopped.
pub fn all_are_stopped(bench: Bench<'_>) -> Result<()> {
    let attacks: Vec<_> = together(list::all()).collect();
    all_good(bench.protected(&attacks)?)
}

/// Checks that the attacks of these names are stopped.
pub fn are_stopped(bench: Bench<'_>, names: &[&str]) -> Result<()> {
    let named = |attack: &&'static Attack| names.iter().any(|it| attack.is(it));
    let attacks: Vec<_> = together(list::all()).filter(named).collect();
    ensure!(
        attacks.len() == names.len(),
        "{} of {names:?} are attacks that share a boot",
        attacks.len()
    );
    all_good(bench.protected(&attacks)?)
}

/// Carries the controls of these out that want these protections off; fails unless all succeed.
pub fn controls_succeed(bench: Bench<'_>, without: Without) -> Result<()> {
    let attacks: Vec<_> = together(list::all()).collect();
    let attacks = by_protection(&attacks).remove(&without).unwrap_or_default();
    ensure!(!attacks.is_empty(), "no attack has such a control");
    let tried = bench.without(without, &attacks)?;
    let judgements = attacks.iter().map(|attack| {
        let mut judgement = Judgement::new(attack, bench.switch);
        judgement.add_controls(without, &tried);
        judgement
    });
    all_good(judgements.collect())
}

fn all_good(judgements: Vec<Judgement>) -> Result<()> {
    let records = judgements.into_iter().map(Judgement::record);
    let bad: Vec<Record> = records.filter(|it| !it.is_good()).collect();
    if bad.is_empty() {
        return Ok(());
    }
    let lines: Vec<_> = bad.iter().map(Record::to_string).collect();
    let text = lines.join("\n");
    Err(match bad.iter().find_map(Record::finding) {
        Some(finding) => finding.error(text),
        None => anyhow!(text),
    })
}

/// The error of a sound build; what `earlier` boots showed comes first.
fn after(earlier: &[&Tried], error: Error) -> Error {
    let lines = earlier.iter().flat_map(|it| &it.attempts);
    let reports = earlier.iter().flat_map(|it| &it.report);
    match guest::found(lines, reports) {
        None => error,
        found => guest::after(found, error),
    }
}

/// What the controls of the attacks are built without that a machine survives.
pub fn protections() -> Vec<Without> {
    let attacks: Vec<_> = together(list::all()).collect();
    by_protection(&attacks).into_keys().collect()
}

/// Attacks that no machine survives.
pub fn alone() -> impl Iterator<Item = &'static Attack> {
    list::all().filter(|it| it.is_alone())
}

/// Attacks of the hostile module that share a boot.
fn together(
    attacks: impl Iterator<Item = &'static Attack>,
) -> impl Iterator<Item = &'static Attack> {
    attacks.filter(|it| !it.is_alone() && it.is_of_module())
}

/// What `only` names, or everything, as far as it means something in that mode and on that machine;
/// and the runs through the gate of every mode.
fn chosen(only: &[String], switch: Switch, machine: &str) -> Result<Campaign> {
    for name in only {
        if !list::all().any(|it| it.is(name)) {
            let known: Vec<_> = list::all().map(Attack::both_names).collect();
            bail!(
                "there is no attack {name} (`--list` shows them); there are {}",
                known.join(", ")
            );
        }
    }
    let wanted = |attack: &Attack| only.is_empty() || only.iter().any(|it| attack.is(it));
    let board = &Machine::new(&MachineArguments {
        machine: machine.to_owned(),
        ..MachineArguments::virt(switch)
    })?
    .recipe;
    let possible = |attack: &Attack| {
        let cpu = attack
            .cpu
            .is_none_or(|it| board.cpus.iter().any(|cpu| cpu == it));
        let elsewhere = attack.is_of_module() && !attack.is_alone() && !attack.by_device;
        attack.by_usb || cpu && (machine == VIRT || elsewhere)
    };
    let impossible: Vec<_> = list::all()
        .filter(|it| wanted(it) && !possible(it))
        .map(Attack::id)
        .collect();
    if !impossible.is_empty() {
        println!(
            "left out on the machine {machine}: {}",
            impossible.join(", ")
        );
    }
    Ok(Campaign {
        attacks: list::all()
            .filter(|it| {
                wanted(it) && possible(it) && (!it.is_alone() || it.modes.contains(&switch))
            })
            .collect(),
        outside: MODES,
    })
}

/// The attacks that have a control without each of the protections.
fn by_protection(attacks: &[&'static Attack]) -> BTreeMap<Without, Vec<&'static Attack>> {
    let mut sorted: BTreeMap<_, Vec<&Attack>> = BTreeMap::new();
    for attack in attacks {
        for control in attack.controls {
            let group = sorted.entry(control.without).or_default();
            if !group.iter().any(|it| it.name == attack.name) {
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
    /// Name of the machine.
    pub machine: &'a str,
}

impl Bench<'_> {
    /// Carries `attacks` out with all protections on.
    fn protected(&self, attacks: &[&'static Attack]) -> Result<Vec<Judgement>> {
        let tried = self.together(Without::NOTHING, attacks, |_, it| it.is_for_sound())?;
        let nothing = Tried::default();
        let judgement = |attack: &&'static Attack| {
            let tried = tried.get(attack.name).unwrap_or(&nothing);
            Judgement::of(attack, self.switch, tried)
        };
        Ok(attacks.iter().map(judgement).collect())
    }

    /// Carries the controls of `attacks` out where one protection is off.
    fn without(
        &self,
        without: Without,
        attacks: &[&'static Attack],
    ) -> Result<BTreeMap<&'static str, Tried>> {
        self.together(without, attacks, |attack, attempt| {
            let controls = attack.controls.iter().filter(|it| it.without == without);
            controls
                .flat_map(|it| it.attempts)
                .any(|it| *it == attempt.name)
        })
    }

    /// All attempts that are wanted, one boot for each CPU model.
    fn together(
        &self,
        without: Without,
        attacks: &[&'static Attack],
        wanted: impl Fn(&Attack, &Attempt) -> bool,
    ) -> Result<BTreeMap<&'static str, Tried>> {
        let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for attack in attacks {
            let attempts: Vec<_> = attack
                .attempts
                .iter()
                .filter(|it| wanted(attack, it))
                .collect();
            if !attempts.is_empty() {
                groups
                    .entry((attack.cpu, attack.by_device, attack.by_usb))
                    .or_default()
                    .push((*attack, attempts));
            }
        }
        let mut all = BTreeMap::new();
        for ((cpu, by_device, by_usb), group) in groups {
            let machine = if by_usb {
                Self {
                    machine: WITH_USB,
                    ..*self
                }
                .machine(None, None)
            } else {
                self.machine(Some(CPUS), Some("256M"))
            };
            let mut parts = self.parts(without, cpu, &machine)?;
            let disk = (by_device || by_usb)
                .then(|| empty_disk(DISK))
                .transpose()?;
            let file = disk.as_ref().map(|it| it.path().to_owned());
            let requests = if by_usb { USB_REQUESTS } else { REQUESTS };
            let image = file.map(|file| DiskImage {
                requests_per_second: Some(requests),
                ..DiskImage::unchanged(file)
            });
            if by_usb {
                parts.boot.usb_disk = image;
            } else {
                parts.boot.disk = image;
            }
            if by_device {
                // A function that Linux has no driver for.
                parts.boot.devices = vec![match without {
                    list::AROUND => "virtio-rng-pci,disable-legacy=on".to_owned(),
                    list::WITH_BALLOON => parts.boot.machine.virtio("balloon"),
                    _ => parts.boot.machine.virtio("rng"),
                }];
            }
            let sound = without == Without::NOTHING;
            let tried = guest::together(&parts, &group, sound);
            all.extend(tried.map_err(|error| {
                // Other CPU models may have shown something.
                let earlier: Vec<&Tried> = all.values().collect();
                if sound { after(&earlier, error) } else { error }
            })?);
        }
        Ok(all)
    }

    /// Carries an attack out that no machine survives, and its controls.
    fn alone(&self, attack: &'static Attack) -> Judgement {
        let mut judgement = match self.alone_without(Without::NOTHING, attack) {
            Ok(tried) => Judgement::of(attack, self.switch, &tried),
            Err(error) => {
                let mut judgement = Judgement::new(attack, self.switch);
                judgement.fail(format!("{error:#}"));
                judgement
            }
        };
        let asid = Bench {
            switch: Switch::Asid,
            ..*self
        };
        for control in attack.controls {
            match asid.alone_without(control.without, attack) {
                Ok(tried) => {
                    let tried = BTreeMap::from([(attack.name, tried)]);
                    judgement.add_controls(control.without, &tried);
                }
                Err(error) => judgement.fail_control(control.without, &format!("{error:#}")),
            }
        }
        judgement
    }

    /// Fails unless an attack that no machine survives is stopped as it has to be.
    pub fn is_stopped(&self, attack: &'static Attack) -> Result<()> {
        let tried = self.alone_without(Without::NOTHING, attack)?;
        all_good(vec![Judgement::of(attack, self.switch, &tried)])
    }

    /// Fails unless it succeeds where its protections are off.
    pub fn succeeds(&self, attack: &'static Attack) -> Result<()> {
        let mut judgement = Judgement::new(attack, self.switch);
        for control in attack.controls {
            let tried = self.alone_without(control.without, attack)?;
            judgement.add_controls(control.without, &BTreeMap::from([(attack.name, tried)]));
        }
        all_good(vec![judgement])
    }

    /// One boot with one CPU for each attempt.
    fn alone_without(&self, without: Without, attack: &'static Attack) -> Result<Tried> {
        let mut tried = Tried::default();
        for attempt in attack.attempts {
            let sound = without == Without::NOTHING;
            let machine = self.machine(Some(1), None);
            let parts = self.parts(without, attack.cpu, &machine);
            let line = parts.and_then(|it| guest::alone(&it, attack, attempt, sound));
            let line = line.map_err(|error| {
                if sound {
                    after(&[&tried], error)
                } else {
                    error
                }
            });
            tried.attempts.push(line?);
        }
        Ok(tried)
    }

    /// The machine, with this many CPUs and this much memory if it is not a board's.
    fn machine(&self, cpus: Option<u32>, memory: Option<&str>) -> MachineArguments {
        let virt = self.machine == VIRT;
        MachineArguments {
            machine: self.machine.to_owned(),
            cpus: cpus.filter(|_| virt),
            memory: memory.filter(|_| virt).map(str::to_owned),
            ..MachineArguments::virt(self.switch)
        }
    }

    fn parts(
        &self,
        without: Without,
        cpu: Option<&str>,
        machine: &MachineArguments,
    ) -> Result<Parts> {
        let machine = Machine::new(&MachineArguments {
            cpu: cpu.map(str::to_owned),
            append: Some("loglevel=7".into()),
            ..machine.clone()
        })?;
        let inner = InnerVariant::without(self.switch, without.inner);
        let sound = Variant::of(&machine);
        let linux = without.linux.map_or(sound, Variant::Weakened);
        let mut parts = run::prepare_over(self.host, machine, &inner, linux)?;
        guest::arm(&mut parts)?;
        Ok(parts)
    }
}
