// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages.

use anyhow::Result;
use comfy_table::Table;
use donjon_figures::records::compartments::{Goal, Messages, Pipes};

use super::lines::{self, median};
use super::{Measured, goal};
use crate::table::{rounded, table};

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

/// What the guest runs.
pub fn command() -> String {
    format!("donjon-compare pipe {TRIALS}")
}

fn total(pipes: &Pipes, name: &str) -> f64 {
    let way = pipes.ways.iter().find(|it| it.name == name);
    way.map_or(f64::NAN, |it| it.total)
}

impl Measured for Pipes {
    fn of(text: &str) -> Result<Self> {
        let way = |(name, _): (&str, _)| -> Result<Messages> {
            let trials = lines::rows(text, name)?;
            Ok(Messages {
                name: name.into(),
                total: median(trials.iter().map(|it: &[u64; 4]| it[3])),
                trials,
            })
        };
        let ways = WAYS.into_iter().map(way).collect::<Result<_>>()?;
        Ok(Self { ways })
    }

    fn goals(&self) -> Vec<Goal> {
        let goals = [
            (
                "a channel to a pipe between two processes",
                "channel",
                CHANNEL_MAX,
            ),
            (
                "a pipe between hosts to a pipe between two processes",
                "call-out",
                CALL_OUT_MAX,
            ),
        ];
        let pipe = total(self, "pipe");
        goals
            .map(|(name, way, most)| goal::ratio(name, total(self, way), pipe, most))
            .into()
    }

    fn table(&self) -> Table {
        let rows = self.ways.iter().zip(WAYS).map(|(way, (_, title))| {
            let part = |place: usize| match median(way.trials.iter().map(|it| it[place])) {
                0.0 => "-".into(),
                it => rounded(it, 0),
            };
            let pipe = way.total / total(self, "pipe");
            let (write, read) = (part(1), part(2));
            vec![
                title.into(),
                write,
                read,
                rounded(way.total, 0),
                rounded(pipe, 2),
            ]
        });
        let header = ["way", "write", "read", "both", "to a pipe between two"];
        table(1, header, rows)
    }
}
