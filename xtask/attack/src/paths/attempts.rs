// SPDX-License-Identifier: MIT OR Apache-2.0
//! The attempts by name: which files the host shows, and what it is asked.

use std::fs;

use anyhow::{Context, Result, bail, ensure};
use donjon_abi::flow::MESSAGE;
use donjon_models::flow::forgery::{NEW, OLD, illegal_returns};
use donjon_verify::Report;

use super::runs::{Asked, Kept, Runs};
use crate::attempt::Part;
use crate::guest::{Line, Outcome};
use crate::list::OTHER_WORDS;

/// Runs whose records are forged.
const TRIES: usize = 20_000;
/// What those runs follow from.
const SEED: u64 = 3;
/// Words of a log of which each bit is changed.
const CHANGED: usize = 24;
/// The word that is lost or repeated.
const WORD: usize = 10;
const WORD_BYTES: usize = 8;
/// A string of the protocol's data, and what the host puts in its place.
const PASSWORD: [&[u8]; 2] = [b"correct horse", b"correct mouse"];
/// What a door's owner wants of a path.
const POLICY: &str = "must-not-run = [\"open_door\"]\n";

/// Makes an attempt, with everything in place or without one part.
pub fn make(runs: Option<&Runs>, attack: &str, attempt: &str, without: Option<Part>) -> Line {
    let made = match (attack, runs) {
        ("flow-rop-reset", _) => Ok(forged(without)),
        (_, Some(runs)) => Attempts { runs, without }.make(attack, attempt),
        (_, None) => Err(anyhow::anyhow!("no guest has run")),
    };
    let (outcome, text) = made.unwrap_or_else(|error| (Outcome::Untried, format!("{error:#}")));
    Line {
        attempt: attempt.to_owned(),
        outcome,
        text,
    }
}

/// Whether an attempt is about files that a guest has left.
pub fn needs_guest(attack: &str) -> bool {
    attack != "flow-rop-reset"
}

/// An illegal return that pieces of records turn into a legal one.
fn forged(without: Option<Part>) -> (Outcome, String) {
    let record = if without == Some(Part::Record) {
        OLD
    } else {
        NEW
    };
    let verdicts = illegal_returns(record, SEED, TRIES);
    let text = format!(
        "{} of {TRIES} logs with a repaired chain accepted",
        verdicts.forged
    );
    if verdicts.honest != TRIES || verdicts.plain != 0 {
        (
            Outcome::Untried,
            format!("the verifier of logs is wrong: {verdicts:?}"),
        )
    } else if verdicts.forged == 0 {
        (Outcome::Stopped, text)
    } else {
        (Outcome::Succeeded, text)
    }
}

struct Attempts<'a> {
    runs: &'a Runs,
    without: Option<Part>,
}

impl Attempts<'_> {
    fn make(&self, attack: &str, attempt: &str) -> Result<(Outcome, String)> {
        let good = self.runs.kept("good")?;
        let of_protocol = self.asked();
        match (attack, attempt) {
            ("flow-log", "change-bit") => self.changed_bits(good),
            ("flow-log", "lose-word") => {
                let log = &good["log"];
                let (before, rest) = log.split_at(WORD * WORD_BYTES);
                self.with_log(good, [before, &rest[WORD_BYTES..]].concat())
            }
            ("flow-log", "exchange-words") => self.with_log(good, exchanged(&good["log"])?),
            ("flow-log", "repeat-word") => {
                let log = &good["log"];
                let (before, rest) = log.split_at((WORD + 1) * WORD_BYTES);
                let again = &before[WORD * WORD_BYTES..];
                self.with_log(good, [before, again, rest].concat())
            }
            ("flow-return", "overwrite") => self.said(self.runs.kept("return")?, &of_protocol),
            ("flow-pointer", "overwrite") => self.said(self.runs.kept("pointer")?, &of_protocol),
            ("flow-pointer", "tag") => self.said(self.runs.kept("tagged")?, &of_protocol),
            ("flow-replay", "earlier-run") => {
                let nonce = [0; 32];
                self.said(
                    good,
                    &Asked {
                        nonce,
                        ..of_protocol
                    },
                )
            }
            ("flow-replay", "other-data") => self.other_data(good),
            ("flow-replay", "exchange-segments") => {
                let segments = self.runs.kept("segments")?;
                let mut files = segments.clone();
                let mut transcript = files["transcript"].clone();
                ensure!(transcript.len() >= 4 * MESSAGE, "a run of one segment");
                let (left, right) = transcript.split_at_mut(2 * MESSAGE);
                left[MESSAGE..].swap_with_slice(&mut right[..MESSAGE]);
                files.insert("transcript".into(), transcript);
                let program = &self.runs.huffman;
                self.said(
                    &files,
                    &Asked {
                        program,
                        ..of_protocol
                    },
                )
            }
            ("flow-data", "overwrite") => {
                let policy = (self.without != Some(Part::Policy)).then_some(POLICY);
                let asked = Asked {
                    policy,
                    ..of_protocol
                };
                let status = self.runs.judge_as(good, &asked)?.status();
                ensure!(status == 0, "the policy rejects a run without an attack");
                self.said(
                    self.runs.kept("data")?,
                    &Asked {
                        policy,
                        ..of_protocol
                    },
                )
            }
            _ => bail!("the row names an attempt that nothing makes"),
        }
    }

    /// Asks about the protocol, without the check that is left out.
    fn asked(&self) -> Asked<'_> {
        let left_out = match self.without {
            Some(Part::Check(check)) => Some(check),
            _ => None,
        };
        Asked {
            left_out,
            ..Asked::new(&self.runs.protocol)
        }
    }

    fn said(&self, files: &Kept, asked: &Asked<'_>) -> Result<(Outcome, String)> {
        Ok(outcome(&self.runs.judge_as(files, asked)?))
    }

    fn with_log(&self, good: &Kept, log: Vec<u8>) -> Result<(Outcome, String)> {
        let mut files = good.clone();
        files.insert("log".into(), log);
        self.said(&files, &self.asked())
    }

    /// Changes each bit of some words, one after the other. One change that is accepted succeeds.
    fn changed_bits(&self, good: &Kept) -> Result<(Outcome, String)> {
        let log = &good["log"];
        let mut last = None;
        for bit in 0..8 * WORD_BYTES * CHANGED.min(log.len() / WORD_BYTES) {
            let mut changed = log.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let made = self.with_log(good, changed)?;
            if made.0 == Outcome::Succeeded {
                return Ok((made.0, format!("bit {bit}: {}", made.1)));
            }
            ensure!(
                self.without.is_some() || made.1.contains(OTHER_WORDS),
                "bit {bit} is stopped by something else: {}",
                made.1
            );
            last = Some(made);
        }
        last.context("a log without words")
    }

    /// A run of a program with another password in its data, and so with the path of the right one.
    fn other_data(&self, good: &Kept) -> Result<(Outcome, String)> {
        let mut file = fs::read(&self.runs.protocol)?;
        let [old, new] = PASSWORD;
        let mut places = file.windows(old.len()).enumerate();
        let place = places.find(|(_, it)| *it == old).map(|(at, _)| at);
        let place = place.context("the protocol has no password")?;
        file[place..place + new.len()].copy_from_slice(new);
        let other = tempfile::NamedTempFile::new()?;
        fs::write(other.path(), file)?;
        let program = other.path();
        self.said(
            good,
            &Asked {
                program,
                ..self.asked()
            },
        )
    }
}

/// What a verifier's words mean for an attacker. A run that did not end by itself is right up to
/// there, and no success.
fn outcome(report: &Report) -> (Outcome, String) {
    match (report.status(), report.wrong.first()) {
        (0, _) => (Outcome::Succeeded, "the verifier accepts the run".into()),
        (_, Some(wrong)) => (Outcome::Stopped, wrong.clone()),
        (_, None) => (Outcome::Stopped, "the run did not end by itself".into()),
    }
}

/// A log whose first two neighbours that differ are exchanged.
fn exchanged(log: &[u8]) -> Result<Vec<u8>> {
    let mut words: Vec<&[u8]> = log.chunks_exact(WORD_BYTES).collect();
    let at = words.windows(2).position(|it| it[0] != it[1]);
    let at = at.context("a log of equal words")?;
    words.swap(at, at + 1);
    Ok(words.concat())
}
