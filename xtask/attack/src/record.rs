// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is said of an attack in the end: one line, and one object of the JSON file.

use std::fmt;

use donjon_figures::records::attacks::{self, STOPPED};
use donjon_machine::arguments::Switch;
use donjon_machine::finding::Finding;

use super::attempt::Attack;

/// An attack and what came of it.
#[derive(Debug)]
pub struct Record {
    /// What it has been known by.
    pub id: String,
    /// What it does, in words.
    pub name: String,
    /// How the inner domain was entered.
    pub mode: &'static str,
    /// `stopped` or `succeeded`.
    pub outcome: &'static str,
    /// What stopped it.
    pub by: Vec<String>,
    /// What the auditor found afterwards.
    pub audit_violations: usize,
    /// `succeeded`, `failed` or `n/a`.
    pub control: &'static str,
    /// What it is, what its controls did, and what is wrong.
    pub note: Vec<String>,
    /// How often it was tried with all protections on.
    pub attempts: usize,
    /// What is not as it has to be.
    pub wrong: Vec<String>,
}

impl Record {
    /// An attack that was made once and stopped, with no control yet.
    pub fn new(attack: &Attack, mode: Switch) -> Self {
        Self {
            id: attack.id().to_owned(),
            name: attack.name.to_owned(),
            mode: mode.name(),
            outcome: STOPPED,
            by: Vec::new(),
            audit_violations: 0,
            control: "n/a",
            note: vec![attack.title.to_owned()],
            attempts: 1,
            wrong: Vec::new(),
        }
    }

    /// Notes that the attack was not stopped as it has to be.
    pub fn fail(&mut self, why: String) {
        self.outcome = "succeeded";
        self.note.push(format!("WRONG: {why}"));
        self.wrong.push(why);
    }

    /// What there is among that which is wrong, and no later run takes back. A control that did not
    /// succeed is not of that kind.
    pub fn finding(&self) -> Option<Finding> {
        if self.outcome != STOPPED {
            Some(Finding::Attack)
        } else if self.audit_violations > 0 {
            Some(Finding::Violation)
        } else {
            None
        }
    }

    /// The object of the JSON file.
    pub fn document(&self) -> attacks::Attack {
        attacks::Attack {
            id: self.id.clone(),
            name: self.name.clone(),
            mode: self.mode.into(),
            outcome: self.outcome.into(),
            by: self.by.join("; "),
            audit_violations: self.audit_violations,
            control: self.control.into(),
            note: self.note.join("; "),
        }
    }

    /// Whether everything is as it has to be.
    pub const fn is_good(&self) -> bool {
        self.wrong.is_empty()
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = self.note.first().map_or("", String::as_str);
        let name = if self.name == self.id {
            String::new()
        } else {
            format!("{}: ", self.name)
        };
        let times = if self.attempts == 1 {
            "1 attempt".to_owned()
        } else {
            format!("{} attempts", self.attempts)
        };
        write!(
            f,
            "{:<22} {:<9} {name}{title} ({times}, audit {}, control {}): {}",
            self.id,
            self.outcome,
            self.audit_violations,
            self.control,
            self.by.join("; ")
        )?;
        for wrong in &self.wrong {
            write!(f, "\n     WRONG: {wrong}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ATTACK: Attack = Attack {
        name: "forge-zero",
        alias: Some("zero"),
        title: "write 0",
        ..Attack::ROW
    };

    #[test]
    fn a_line_begins_with_the_earlier_name_and_the_outcome() {
        let mut record = Record::new(&ATTACK, Switch::Asid);
        record.by.push("a hang".into());
        assert!(record.is_good());
        assert_eq!(record.finding(), None);
        assert_eq!(
            record.to_string(),
            "zero                   stopped   forge-zero: write 0 (1 attempt, audit 0, control n/a): a hang"
        );
        record.fail("it went on".into());
        assert!(!record.is_good());
        assert_eq!(record.finding(), Some(Finding::Attack));
        assert!(record.to_string().ends_with("\n     WRONG: it went on"));
    }

    #[test]
    fn an_attack_without_an_earlier_name_is_named_once() {
        let attack = Attack {
            alias: None,
            ..ATTACK
        };
        let record = Record::new(&attack, Switch::Asid);
        assert!(
            record
                .to_string()
                .starts_with("forge-zero             stopped   write 0 (")
        );
    }

    #[test]
    fn the_json_object_has_words_not_lists() {
        let mut record = Record::new(&ATTACK, Switch::Asid);
        record.note.push("the machine had stopped".into());
        let document = record.document();
        let words = [&document.id, &document.name, &document.note, &document.by];
        let note = "write 0; the machine had stopped";
        assert_eq!(words, ["zero", "forge-zero", note, ""]);
    }
}
