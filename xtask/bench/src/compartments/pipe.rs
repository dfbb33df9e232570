// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages.

use anyhow::Result;
use comfy_table::Table;
use serde::Serialize;

use super::goal::Goal;
use super::lines::{self, median};
use super::table;

const TRIALS: u64 = 100;
/// The names in what a guest prints, and what they are.
const WAYS: [(&str, &str); 5] = [
    ("channel", "channel between compartments of one process"),
    ("pipe-in-one-process", "pipe within a process"),
    ("pipe", "pipe between two processes"),
    (
        "call-out-in-one-process",
        "pipe within the host of a compartment",
    ),
    ("call-out", "pipe between the hosts of two compartments"),
];
/// What a channel and a pipe of the host may take, for one that takes a pipe between processes.
const CHANNEL_MAX: f64 = 1.0;
const CALL_OUT_MAX: f64 = 2.0;

/// Messages in each way.
#[derive(Debug, Serialize)]
pub struct Pipes {
    /// The ways.
    pub ways: Vec<Way>,
}

/// A way of a message.
#[derive(Debug, Serialize)]
pub struct Way {
    /// Name of the way.
    pub name: &'static str,
    /// Median instructions of a message, from before it is written until it is read.
    pub total: f64,
    /// Each message: its number, instructions of writing and reading, which are 0 where they are
    /// not told apart, and of both.
    pub trials: Vec<[u64; 4]>,
}

/// What the guest runs.
pub fn command() -> String {
    format!("donjon-compare pipe {TRIALS}")
}

impl Pipes {
    /// Reads what the guest printed.
    pub fn of(text: &str) -> Result<Self> {
        let way = |(name, _)| -> Result<Way> {
            let trials = lines::rows(text, name)?;
            Ok(Way {
                name,
                total: median(trials.iter().map(|it: &[u64; 4]| it[3])),
                trials,
            })
        };
        let ways = WAYS.into_iter().map(way).collect::<Result<_>>()?;
        Ok(Self { ways })
    }

    fn total(&self, name: &str) -> f64 {
        let way = self.ways.iter().find(|it| it.name == name);
        way.map_or(f64::NAN, |it| it.total)
    }

    /// What should be so.
    pub fn goals(&self) -> Vec<Goal> {
        let pipe = self.total("pipe");
        vec![
            Goal::ratio(
                "a channel to a pipe between two processes",
                self.total("channel"),
                pipe,
                CHANNEL_MAX,
            ),
            Goal::ratio(
                "a pipe between hosts to a pipe between two processes",
                self.total("call-out"),
                pipe,
                CALL_OUT_MAX,
            ),
        ]
    }

    /// Lays the medians out as a table.
    pub fn table(&self) -> Table {
        let rows = self.ways.iter().zip(WAYS).map(|(way, (_, title))| {
            let part = |place: usize| match median(way.trials.iter().map(|it| it[place])) {
                0.0 => "-".into(),
                it => format!("{it:.0}"),
            };
            let pipe = way.total / self.total("pipe");
            vec![
                title.into(),
                part(1),
                part(2),
                format!("{:.0}", way.total),
                format!("{pipe:.2}"),
            ]
        });
        table(
            &["way", "write", "read", "both", "to a pipe between two"],
            rows,
        )
    }
}
