// SPDX-License-Identifier: MIT OR Apache-2.0
//! The results of many runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Error, Result};
use donjon_machine::arguments::Switch;
use donjon_machine::finding::Finding;
use serde::Serialize;

use super::one::{Run, RunEnd};
use super::oracle::{Breach, Seen};
use super::states::{Class, Start};

/// Escapes that are described; the others are counted.
const DESCRIBED: usize = 10;

/// An escape, for a reader who wants to see it again.
#[derive(Clone, Debug, Serialize)]
pub struct Escape {
    /// CPU model.
    pub cpu: String,
    /// Which run of the seed.
    pub run: u64,
    /// What was broken.
    pub breach: String,
    /// Where the CPU was.
    pub pc: u64,
    /// `TCR_EL1` then.
    pub tcr: u64,
    /// The word that was fetched.
    pub word: Option<u32>,
    /// Physical address of the word.
    pub frame: Option<u64>,
    /// How the run had started.
    pub start: Start,
}

impl fmt::Display for Escape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} run {} ({:?} from {:#x}): {}: at {:#x} with TCR_EL1 {:#x}",
            self.cpu, self.run, self.start.class, self.start.target, self.breach, self.pc, self.tcr
        )?;
        if let Some(word) = self.word {
            write!(f, ", word {word:#010x}")?;
        }
        if let Some(frame) = self.frame {
            write!(f, " of {frame:#x}")?;
        }
        Ok(())
    }
}

/// The runs of a mode.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Switch mode.
    pub mode: &'static str,
    /// What the registers of all runs follow from.
    pub seed: u64,
    /// How many there were.
    pub runs: u64,
    /// In how many something got out.
    pub escapes: u64,
    /// In how many a value that is neither domain's stood in `TCR_EL1`.
    pub forged: u64,
    /// How many such values there were.
    pub values: u64,
    /// In how many an exception came while `TCR_EL1` was not the outer value.
    pub disturbed: u64,
    /// Calls as any caller makes them that were not answered.
    pub unanswered: u64,
    /// Some of them: how each ended, where, and its registers.
    pub unanswered_calls: Vec<String>,
    /// Instructions that were looked at one by one.
    pub steps: u64,
    /// Frames that the outer domain can write, all of them hostile.
    pub frames: u64,
    /// The instruction that they are made of.
    pub hostile: u32,
    /// By kind of end.
    pub ends: BTreeMap<RunEnd, u64>,
    /// By what they were about: runs, runs with a forged value, runs with an exception.
    pub classes: BTreeMap<Class, [u64; 3]>,
    /// Where runs stood that took too long.
    pub slow: BTreeMap<String, u64>,
    /// Some escapes.
    pub described: Vec<Escape>,
    #[serde(skip)]
    seen: BTreeSet<u64>,
}

impl Summary {
    /// A summary of no run.
    pub fn new(mode: Switch, seed: u64) -> Self {
        Self {
            mode: mode.name(),
            seed,
            runs: 0,
            escapes: 0,
            forged: 0,
            values: 0,
            disturbed: 0,
            unanswered: 0,
            unanswered_calls: Vec::new(),
            steps: 0,
            frames: 0,
            hostile: 0,
            ends: BTreeMap::new(),
            classes: BTreeMap::new(),
            slow: BTreeMap::new(),
            described: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    /// Fails unless everything is as it has to be.
    ///
    /// # Errors
    ///
    /// A [`Finding::Escape`], which has the summary as its text.
    pub fn expect_good(&self) -> Result<()> {
        if self.is_good() {
            return Ok(());
        }
        Err(Finding::Escape.error(self))
    }

    /// The error after which there were no more runs, of a gate that lets nothing out: a
    /// [`Finding::Escape`] if one of those before it is not as it has to be.
    pub fn before(&self, error: Error) -> Error {
        if self.is_good() {
            return error;
        }
        Finding::Escape.error(format!("{self}\nand then: {error:#}"))
    }

    /// Adds a run.
    pub fn add(&mut self, cpu: &str, start: &Start, run: &Run) {
        *self.ends.entry(run.end).or_default() += 1;
        let class = self.classes.entry(start.class).or_default();
        class[0] += 1;
        class[1] += u64::from(run.forged.is_some());
        class[2] += u64::from(run.disturbed);
        self.forged += u64::from(run.forged.is_some());
        self.seen.extend(run.forged);
        self.values = self.seen.len() as u64;
        self.disturbed += u64::from(run.disturbed);
        self.unanswered += u64::from(run.unanswered);
        if run.unanswered && self.unanswered_calls.len() < DESCRIBED {
            self.unanswered_calls.push(format!(
                "{cpu} run {}: {}, at {:#x}, x0 to x30 {:x?}",
                self.runs, run.end, run.last, start.general
            ));
        }
        self.steps += u64::from(run.steps);
        if matches!(
            run.end,
            RunEnd::OwnLoop | RunEnd::InnerLoop | RunEnd::TooLong
        ) {
            let place = format!(
                "{:?} from {:#x}, x30 {:#x}, x0 {:#x}: at {:#x}",
                start.class, start.target, start.general[30], start.general[0], run.last
            );
            *self.slow.entry(place).or_default() += 1;
        }
        if let Some((breach, seen)) = &run.breach {
            self.escapes += 1;
            if self.described.len() < DESCRIBED {
                let breach = match breach {
                    Breach::Left(number) => {
                        let value = seen.general.get(*number).copied().unwrap_or(0);
                        format!("{breach}, {value:#x}")
                    }
                    _ => breach.to_string(),
                };
                let Seen {
                    pc,
                    tcr,
                    word,
                    frame,
                    ..
                } = **seen;
                self.described.push(Escape {
                    cpu: cpu.to_owned(),
                    run: self.runs,
                    breach,
                    pc,
                    tcr,
                    word,
                    frame,
                    start: start.clone(),
                });
            }
        }
        self.runs += 1;
    }

    /// How many ended so.
    pub fn count(&self, end: RunEnd) -> u64 {
        self.ends.get(&end).copied().unwrap_or(0)
    }

    /// The forged values with which an instruction of hostile memory ran, of those escapes that are
    /// described.
    pub fn hostile_values(&self) -> BTreeSet<u64> {
        let ran = self
            .described
            .iter()
            .filter(|it| it.word == Some(self.hostile));
        ran.map(|it| it.tcr).collect()
    }

    /// Whether nothing got out, every call was answered and every long run is explained.
    pub fn is_good(&self) -> bool {
        self.escapes == 0 && self.unanswered == 0 && self.count(RunEnd::TooLong) == 0
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "mode {}, seed {:#x}, {} frames of hostile memory:",
            self.mode, self.seed, self.frames
        )?;
        for (end, count) in &self.ends {
            writeln!(f, "{count:8} {end}")?;
        }
        for (class, [runs, forged, disturbed]) in &self.classes {
            let class = format!("{class:?}").to_lowercase();
            writeln!(
                f,
                "{runs:8} of class {class}: {forged} with a forged TCR_EL1, {disturbed} with an exception behind it"
            )?;
        }
        for (place, count) in self.slow.iter().take(DESCRIBED) {
            writeln!(f, "{count:8} slow: {place}")?;
        }
        for call in &self.unanswered_calls {
            writeln!(f, "  UNANSWERED {call}")?;
        }
        for escape in &self.described {
            writeln!(f, "  ESCAPE {escape}")?;
        }
        writeln!(
            f,
            "{} runs with a forged TCR_EL1 ({} values), {} with an exception behind it, {} instructions judged one by one, {} calls unanswered",
            self.forged, self.values, self.disturbed, self.steps, self.unanswered
        )?;
        // Tools look for this line, the last of each mode.
        write!(
            f,
            "gate {}: {} runs, {} escapes",
            self.mode, self.runs, self.escapes
        )
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn an_escape_comes_before_what_failed_after_it() {
        let mut summary = Summary::new(Switch::Asid, 1);
        let error = summary.before(anyhow!("no snapshot"));
        assert_eq!(Finding::of(&error), None);
        assert_eq!(error.to_string(), "no snapshot");
        summary.runs = 1;
        summary.escapes = 1;
        let error = summary.before(anyhow!("no snapshot"));
        assert_eq!(Finding::of(&error), Some(Finding::Escape));
        assert!(error.to_string().ends_with("\nand then: no snapshot"));
    }
}
