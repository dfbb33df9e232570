// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages.

use serde::Deserialize;

use super::{INSIDE, OUTSIDE, bar, figure, times};
use crate::document::{Block, Figure, Section, Table};
use crate::plot::{Bars, Chart, Group};
use crate::published::compartments::Morello;

#[derive(Deserialize)]
pub(super) struct Pipes {
    ways: Vec<Way>,
}

#[derive(Deserialize)]
struct Way {
    name: String,
    total: f64,
}

/// The names, what they are, and whether a compartment has a part in it.
const WAYS: [(&str, &str, bool); 5] = [
    ("channel", "channel between compartments", true),
    ("pipe-in-one-process", "pipe within a process", false),
    ("pipe", "pipe between two processes", false),
    ("call-out-in-one-process", "pipe within a host", true),
    ("call-out", "pipe between two hosts", true),
];
/// What the others are compared with.
const CONTROL: &str = "pipe";
/// The first message of others, one after it, and the last.
const MESSAGES: [u64; 3] = [1, 2, 100];

impl Way {
    fn title(&self) -> (&str, bool) {
        let known = WAYS.iter().find(|it| it.0 == self.name);
        known.map_or((self.name.as_str(), true), |it| (it.1, it.2))
    }
}

impl Pipes {
    pub(super) fn show(&self, section: &mut Section, morello: &Morello) {
        section.heading("Messages");
        section.text(
            "A message of 1,024 bytes, from before it is written until it is read; median of 100. \
             Between two processes, or two hosts, it is half of a message there and back. A \
             channel is between two compartments of one process and is copied by the inner domain. \
             A host writes and reads a pipe for its compartment.",
        );
        let control = self.ways.iter().find(|it| it.name == CONTROL);
        let series = [
            (INSIDE.0, "with compartments"),
            (OUTSIDE.0, "processes alone"),
        ];
        let header = ["way", "instructions", "to a pipe between two processes"];
        let mut table = Table::new("A message in each way", &header);
        let mut groups = Vec::new();
        for way in &self.ways {
            let (title, is_inside) = way.title();
            let total = figure(way.total, 0);
            let ratio = control.map(|it| way.total / it.total);
            table.row(vec![title.into(), total.clone(), times(ratio)]);
            groups.push(Group {
                name: title.into(),
                bars: vec![bar(usize::from(!is_inside), way.total, total)],
                mark: None,
            });
        }
        let said: Vec<String> = table.rows.iter().map(|it| it[..2].join(" ")).collect();
        section.add(Block::Figure(Figure {
            caption: "Instructions for a message of 1,024 bytes.".into(),
            alternative: format!("Bars: {}.", said.join("; ")),
            chart: Chart::Bars(Bars {
                unit: "instructions".into(),
                series: series
                    .map(|(colour, name)| (colour, name.to_owned()))
                    .into(),
                groups,
                ..Bars::default()
            }),
        }));
        section.add(Block::Table(table));
        section.add(Block::Table(theirs(morello)));
    }
}

fn theirs(morello: &Morello) -> Table {
    let header = ["message", "inside, ms", "outside, ms", "inside to outside"];
    let caption = format!(
        "A message through a pipe on the Morello board, writing and reading: {}",
        morello.source("pipe")
    );
    let mut table = Table::new(&caption, &header);

    for message in MESSAGES {
        if let Some(it) = morello.sized("pipe", "total", message) {
            table.row(vec![
                message.to_string(),
                it.inside.clone(),
                it.outside.clone(),
                times(it.ratio()),
            ]);
        }
    }
    table
}
