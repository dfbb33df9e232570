// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loops that compute.

use serde::Deserialize;

use super::{bar, figure};
use crate::document::{Block, Figure, Section, Table};
use crate::plot::{Bars, Chart, Colour, Group};
use crate::published::compartments::{BENCHMARK, Morello, PURECAP};
use donjon_figures::format::{added, percent};

#[derive(Deserialize)]
pub(super) struct Loops {
    loops: Vec<Loop>,
}

#[derive(Deserialize)]
struct Loop {
    name: String,
    outside: f64,
    inside: f64,
}

impl Loop {
    /// What is more inside, in percent: ours, and that of others in both forms.
    fn more(&self, morello: &Morello) -> [Option<f64>; 3] {
        let theirs = |variant| {
            let row = morello.of_loop(&self.name, variant)?;
            added(row.outside()?, row.inside()?)
        };
        [
            added(self.outside, self.inside),
            theirs(PURECAP),
            theirs(BENCHMARK),
        ]
    }
}

impl Loops {
    pub(super) fn show(&self, section: &mut Section, morello: &Morello) {
        section.heading("Computing");
        section.text(format!(
            "One source, compiled for both sides with the same optimization, with frame pointers \
             and for a fixed address. Morello: {}.",
            morello.source("cpu")
        ));
        let header = [
            "loop",
            "outside",
            "inside",
            "more inside",
            "Morello, purecap",
            "Morello, benchmark ABI",
        ];
        let mut table = Table::new("Loops that compute, in instructions", &header);
        let mut groups = Vec::new();
        for it in &self.loops {
            let more = it.more(morello);
            let mut row = vec![it.name.clone(), figure(it.outside, 0), figure(it.inside, 0)];
            row.extend(more.map(|it| it.map_or(String::new(), percent)));
            table.row(row);
            let bars = more.into_iter().enumerate();
            let bars = bars.filter_map(|(series, it)| Some(bar(series, it?, percent(it?))));
            groups.push(Group {
                name: it.name.clone(),
                bars: bars.collect(),
                mark: None,
            });
        }
        let said = table
            .rows
            .iter()
            .map(|it| format!("{} {}", it[0], it[3..].join(", ")));
        let said: Vec<String> = said.collect();
        section.add(Block::Figure(Figure {
            caption: "What a loop takes more inside, in percent of what it takes outside. Ours: \
                      instructions; theirs: time."
                .into(),
            alternative: format!("Bars, ours and both forms of others: {}.", said.join("; ")),
            chart: Chart::Bars(Bars {
                unit: "percent more inside".into(),
                suffix: " %",
                places: 0,
                series: vec![
                    (Colour::Asid, "Donjon (instructions)".into()),
                    (Colour::First, "Morello, purecap (time)".into()),
                    (Colour::Second, "Morello, benchmark ABI (time)".into()),
                ],
                mark: None,
                groups,
            }),
        }));
        section.add(Block::Table(table));
    }
}
