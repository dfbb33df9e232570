// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether an attack was stopped, by what it had to be, and whether its controls succeeded.

use std::collections::{BTreeMap, BTreeSet};

use donjon_machine::arguments::Switch;

use super::attempt::{Attack, Control, Without};
use super::guest::{Line, Outcome, Tried};
use super::record::Record;

/// What came of an attack and its controls.
pub struct Judgement {
    /// Which.
    pub attack: &'static Attack,
    mode: Switch,
    stopped: bool,
    by: Vec<String>,
    violations: usize,
    controls: usize,
    failed_controls: usize,
    /// What is not as it has to be.
    wrong: Vec<String>,
    notes: Vec<String>,
}

impl Judgement {
    /// Nothing is known yet.
    pub fn new(attack: &'static Attack, mode: Switch) -> Self {
        Self {
            attack,
            mode,
            stopped: true,
            by: Vec::new(),
            violations: 0,
            controls: 0,
            failed_controls: 0,
            wrong: Vec::new(),
            notes: vec![attack.title.to_owned()],
        }
    }

    /// What came of it with all protections on.
    pub fn of(attack: &'static Attack, mode: Switch, tried: &Tried) -> Self {
        let mut judgement = Self::new(attack, mode);
        for attempt in attack.attempts_of_sound() {
            let Some(line) = named(tried, attempt.name) else {
                judgement
                    .wrong
                    .push(format!("{} was not made", attempt.name));
                continue;
            };
            let what = format!("{}: {}", line.attempt, line.text);
            match line.outcome {
                Outcome::Stopped if line.text.contains(attempt.end.mark()) => {
                    if !judgement.by.contains(&line.text) {
                        judgement.by.push(line.text.clone());
                    }
                }
                Outcome::Stopped => judgement
                    .wrong
                    .push(format!("stopped by something else: {what}")),
                Outcome::Untried => judgement.wrong.push(format!("not tried: {what}")),
                Outcome::Succeeded => {
                    judgement.stopped = false;
                    judgement.wrong.push(what);
                }
            }
        }
        match &tried.report {
            Some(report) => {
                judgement.violations = report.violations.len();
                let named = report.violations.iter().map(|it| format!("audit: {it}"));
                judgement.wrong.extend(named);
            }
            None if attack.is_for_verifier => {}
            None => judgement
                .notes
                .push("the machine had stopped, so no audit".into()),
        }
        judgement
    }

    /// Notes that the attack was not stopped as it has to be.
    pub fn fail(&mut self, why: String) {
        self.stopped = false;
        self.wrong.push(why);
    }

    /// Adds what came of the controls that want `without` off.
    pub fn add_controls(&mut self, without: Without, tried: &BTreeMap<&'static str, Tried>) {
        let nothing = Tried::default();
        let tried = tried.get(self.attack.name).unwrap_or(&nothing);
        let controls = self.attack.controls.iter();
        for control in controls.filter(|it| it.without == without) {
            self.add(control, tried);
        }
    }

    /// Adds a control that could not be carried out.
    pub fn fail_control(&mut self, without: Without, why: &str) {
        self.wrong.push(format!("with {}: {why}", without.name()));
        self.controls += 1;
        self.failed_controls += 1;
    }

    /// Adds what came of a control.
    fn add(&mut self, control: &Control, tried: &Tried) {
        let without = control.without.name();
        let before = self.wrong.len();
        for name in control.attempts {
            match named(tried, name) {
                Some(line) if line.outcome == Outcome::Succeeded => {
                    self.notes.push(format!("{without}: {name}: {}", line.text));
                }
                Some(line) => self.wrong.push(format!(
                    "{name} does not even succeed with {without}: {}",
                    line.text
                )),
                None => self
                    .wrong
                    .push(format!("{name} was not made with {without}")),
            }
        }
        let violations = tried.report.iter().flat_map(|it| &it.violations);
        let named: BTreeSet<&str> = violations.map(|it| it.invariant).collect();
        for invariant in control.seen_as {
            if !named.contains(invariant) {
                let named: Vec<_> = named.iter().copied().collect();
                self.wrong.push(format!(
                    "with {without} the auditor does not name {invariant}; it names [{}]",
                    named.join(" ")
                ));
            }
        }
        if !control.seen_as.is_empty() {
            let seen = control.seen_as.join(", ");
            self.notes
                .push(format!("{without}: the auditor names {seen}"));
        }
        self.controls += 1;
        self.failed_controls += usize::from(self.wrong.len() > before);
    }

    /// What is said of it in the end.
    pub fn record(self) -> Record {
        let (outcome, control) = (self.outcome(), self.control());
        let mut note = self.notes;
        note.extend(self.wrong.iter().map(|it| format!("WRONG: {it}")));
        Record {
            outcome,
            by: self.by,
            audit_violations: self.violations,
            control,
            note,
            attempts: self.attack.attempts_of_sound().count(),
            wrong: self.wrong,
            ..Record::new(self.attack, self.mode)
        }
    }

    const fn outcome(&self) -> &'static str {
        if self.stopped { "stopped" } else { "succeeded" }
    }

    const fn control(&self) -> &'static str {
        match (self.controls, self.failed_controls) {
            (0, _) => "n/a",
            (_, 0) => "succeeded",
            _ => "failed",
        }
    }
}

fn named<'a>(tried: &'a Tried, name: &str) -> Option<&'a Line> {
    tried.attempts.iter().rev().find(|it| it.attempt == name)
}
