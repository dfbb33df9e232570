// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocks of memory.

use serde::Deserialize;

use super::{INSIDE, OUTSIDE, bar, figure, times};
use crate::document::{Block, Figure, Section, Table};
use crate::plot::{Bars, Chart, Group};
use crate::published::compartments::Morello;

#[derive(Deserialize)]
pub(super) struct Sizes {
    sizes: Vec<Size>,
}

#[derive(Deserialize)]
struct Size {
    megabytes: u64,
    inside: Costs,
    outside: Costs,
    reserve: u64,
    end: u64,
}

#[derive(Deserialize)]
struct Costs {
    grow: u64,
    write: u64,
    read: u64,
    release: u64,
}

const PAGES_OF_MB: u64 = 256;
/// More sizes than a table shows, and MB between those that it does.
const SIZES_MAX: usize = 10;
const COLUMNS_APART: u64 = 200;
const ROWS_APART: u64 = 100;

impl Size {
    fn each(&self, cost: u64) -> f64 {
        cost as f64 / (self.megabytes * PAGES_OF_MB) as f64
    }

    /// What is done, and instructions for a page inside and outside.
    fn rows(&self) -> [(&'static str, f64, Option<f64>); 6] {
        let Self {
            inside, outside, ..
        } = self;
        let both = |name, inside, outside| (name, self.each(inside), Some(self.each(outside)));
        [
            (
                "taking it from Linux, before",
                self.each(self.reserve),
                None,
            ),
            both(
                "growing by it and touching each page",
                inside.grow,
                outside.grow,
            ),
            both("writing each word", inside.write, outside.write),
            both("reading each word", inside.read, outside.read),
            both("giving it back", inside.release, outside.release),
            ("ending the compartment", self.each(self.end), None),
        ]
    }

    /// Each test of others, and how inside relates to outside.
    fn ratios(&self) -> [(&'static str, f64); 4] {
        let Self {
            inside, outside, ..
        } = self;
        let ratio = |inside: u64, outside: u64| inside as f64 / outside as f64;
        [
            (
                "allocation",
                ratio(inside.grow + self.reserve, outside.grow),
            ),
            ("write", ratio(inside.write, outside.write)),
            ("read", ratio(inside.read, outside.read)),
            ("free", ratio(inside.release, outside.release)),
        ]
    }
}

impl Sizes {
    pub(super) fn show(&self, section: &mut Section, morello: &Morello) {
        section.heading("Memory");
        section.text(
            "A block is had and each of its pages touched, each word is written, each word is read \
             into a sum that has to be the same on both sides, and the block is given back. A \
             compartment cannot wait for memory, so its host has Linux give it before; a process \
             gets it by faults, which are in the figure. Our allocation beside that of others is all \
             of it: taking the memory from Linux, growing and touching.",
        );
        if let Some(largest) = self.sizes.iter().max_by_key(|it| it.megabytes) {
            section.add(Block::Figure(bars(largest)));
        }
        let shown = self.every(COLUMNS_APART);
        let name = |it: &&Size| format!("{} MB", figure(it.megabytes as f64, 0));
        let mut header = vec!["instructions for each page".to_owned()];
        header.extend(shown.iter().map(name));
        let mut table = Table {
            caption: "Memory, inside / outside, by size of the block".into(),
            header,
            words: 1,
            rows: Vec::new(),
        };
        let rows: Vec<_> = shown.into_iter().map(Size::rows).collect();
        for (index, (what, ..)) in rows.first().into_iter().flatten().enumerate() {
            let mut row = vec![(*what).to_owned()];
            row.extend(rows.iter().map(|it| match it[index] {
                (_, inside, Some(outside)) => {
                    format!("{} / {}", figure(inside, 1), figure(outside, 1))
                }
                (_, inside, None) => figure(inside, 1),
            }));
            table.row(row);
        }
        section.add(Block::Table(table));
        section.add(Block::Table(self.beside(morello)));
    }

    /// The sizes, or where there are many, those that are `apart` MB apart.
    fn every(&self, apart: u64) -> Vec<&Size> {
        let many = self.sizes.len() > SIZES_MAX;
        let shown = |it: &&Size| !many || it.megabytes.is_multiple_of(apart);
        self.sizes.iter().filter(shown).collect()
    }

    fn beside(&self, morello: &Morello) -> Table {
        let mut header = vec!["MB".to_owned()];
        let tests = ["allocation", "write", "read", "free"];
        header.extend(
            tests
                .iter()
                .flat_map(|it| [(*it).to_owned(), "Morello".into()]),
        );
        let mut table = Table {
            caption: format!("Inside to outside. Morello: {}", morello.source("memory")),
            header,
            words: 1,
            rows: Vec::new(),
        };
        for it in self.every(ROWS_APART) {
            let mut row = vec![figure(it.megabytes as f64, 0)];
            for (test, ratio) in it.ratios() {
                let theirs = morello.sized("memory", test, it.megabytes);
                row.extend([times(Some(ratio)), times(theirs.and_then(|it| it.ratio()))]);
            }
            table.row(row);
        }
        table
    }
}

fn bars(size: &Size) -> Figure {
    let rows = size.rows();
    let group = |(name, inside, outside): &(&'static str, f64, Option<f64>)| {
        let mut bars = vec![bar(0, *inside, figure(*inside, 1))];
        bars.extend(outside.map(|it| bar(1, it, figure(it, 1))));
        Group {
            name: (*name).into(),
            bars,
            mark: None,
        }
    };
    let said = rows.iter().map(|(name, inside, outside)| {
        let outside = outside.map_or("-".to_owned(), |it| figure(it, 1));
        format!("{name} {} and {outside}", figure(*inside, 1))
    });
    let said: Vec<String> = said.collect();
    Figure {
        caption: format!(
            "Instructions for each page of a block of {} MB.",
            figure(size.megabytes as f64, 0)
        ),
        alternative: format!("Bars, inside and outside: {}.", said.join("; ")),
        chart: Chart::Bars(Bars {
            unit: "instructions for each page".into(),
            series: [INSIDE, OUTSIDE].map(|it| (it.0, it.1.to_owned())).into(),
            groups: rows.iter().map(group).collect(),
            ..Bars::default()
        }),
    }
}
