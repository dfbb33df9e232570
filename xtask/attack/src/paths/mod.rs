// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attacks on programs under flow attestation that the verifier of their reports stops.
//!
//! The attacker is the program's host, or a peer that sends the program its input. One guest runs
//! the programs, with every protection on; each attempt shows the verifier files that the guest
//! left, changed or not. Controls ask a verifier that lacks a check, or use a record that can be
//! forged.

mod attempts;
mod inputs;
mod runs;

use std::collections::BTreeMap;

use anyhow::Result;
use donjon_machine::arguments::Switch;

use crate::attempt::{Attack, Part, Without};
use crate::guest::Tried;
use crate::judge::Judgement;
use crate::record::Record;
use crate::{Bench, all_good, list};

pub use runs::{Asked, Kept, Runs};

/// Carries `attacks` out with their controls.
pub fn records(attacks: &[&'static Attack], bench: &Bench<'_>) -> Result<Vec<Record>> {
    let needs_guest = attacks.iter().any(|it| attempts::needs_guest(it.name));
    let make = || Runs::make(bench.host, bench.switch);
    let runs = needs_guest.then(make).transpose()?;
    let judged = judgements(attacks, bench.switch, runs.as_ref());
    Ok(judged.map(Judgement::record).collect())
}

/// Fails unless each attack that a verifier has to stop is stopped, and each control succeeds.
///
/// # Errors
///
/// If an attempt or a control does not end as its row says.
pub fn are_stopped(runs: &Runs, switch: Switch) -> Result<()> {
    let attacks: Vec<_> = list::all().filter(|it| it.is_for_verifier).collect();
    all_good(judgements(&attacks, switch, Some(runs)).collect())
}

fn judgements<'a>(
    attacks: &'a [&'static Attack],
    switch: Switch,
    runs: Option<&'a Runs>,
) -> impl Iterator<Item = Judgement> + 'a {
    attacks.iter().map(move |attack| {
        let names = attack.attempts.iter().map(|it| it.name);
        let sound = tried(runs, attack, names, None);
        let mut judgement = Judgement::of(attack, switch, &sound);
        for without in withouts(attack) {
            let controls = attack.controls.iter().filter(|it| it.without == without);
            let names = controls.flat_map(|it| it.attempts.iter().copied());
            let tried = tried(runs, attack, names, without.part);
            judgement.add_controls(without, &BTreeMap::from([(attack.name, tried)]));
        }
        judgement
    })
}

/// What the controls of an attack leave out, each once.
fn withouts(attack: &Attack) -> Vec<Without> {
    let mut all: Vec<_> = attack.controls.iter().map(|it| it.without).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn tried<'a>(
    runs: Option<&Runs>,
    attack: &Attack,
    names: impl Iterator<Item = &'a str>,
    without: Option<Part>,
) -> Tried {
    let make = |name| attempts::make(runs, attack.name, name, without);
    Tried {
        attempts: names.map(make).collect(),
        report: None,
    }
}
