// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many compartments at once.

use serde::Deserialize;

use super::figure;
use crate::document::{Block, Figure, Section, Table};
use crate::plot::{Chart, Colour, Curve, Curves};
use crate::published::compartments::Morello;

#[derive(Deserialize)]
pub(super) struct Number {
    pub(super) count: u64,
    frames: u64,
    made: Costs,
    ended: Costs,
    free_kib: [u64; 3],
    /// How many there were, KiB of RAM that were not free, and instructions since the first.
    rows: Vec<[u64; 3]>,
}

#[derive(Deserialize)]
struct Costs {
    first: u64,
    last: u64,
    first_median: f64,
    last_median: f64,
    most: u64,
    mean: f64,
}

/// The most that others had at once.
const MOST: u64 = 8991;
const KIB_OF_MB: f64 = 1024.0;
const INSTRUCTIONS_OF_MILLISECOND: f64 = 1e6;
const OURS: &str = "Donjon";
const THEIRS: &str = "Morello";

impl Number {
    /// KiB of RAM that are gone for one.
    pub(super) fn kib_each(&self) -> f64 {
        let [before, alive, _] = self.free_kib;
        before.saturating_sub(alive) as f64 / self.count as f64
    }

    pub(super) fn show(&self, section: &mut Section, morello: &Morello) {
        section.heading("How many");
        section.text(format!(
            "{} clones of one program are made, called once and ended. Each has {} private frames.",
            figure(self.count as f64, 0),
            self.frames
        ));
        let memory = |it: &[u64; 3]| it[1] as f64 / KIB_OF_MB;
        section.add(Block::Figure(self.curves(
            morello,
            "memory",
            "MB of RAM in use",
            "RAM in use while compartments are made; both axes are logarithmic. Ours: a guest of \
             4 GiB. Theirs: a board of 17 GB.",
            memory,
        )));
        let time = |it: &[u64; 3]| it[2] as f64 / INSTRUCTIONS_OF_MILLISECOND;
        section.add(Block::Figure(self.curves(
            morello,
            "time",
            "milliseconds",
            "From the beginning until so many are there; both axes are logarithmic. Ours: \
             milliseconds of 1,000,000 instructions. Theirs: time, with the sleep after each.",
            time,
        )));
        section.add(Block::Table(self.costs()));
        section.add(Block::Table(self.beside(morello)));
    }

    fn curves(
        &self,
        morello: &Morello,
        test: &str,
        up: &str,
        caption: &str,
        of: impl Fn(&[u64; 3]) -> f64,
    ) -> Figure {
        let ours = self.sparse().map(|it| (it[0] as f64, of(it))).collect();
        let theirs = morello.rows("number", test);
        let theirs = theirs.filter_map(|it| Some((it.size? as f64, it.inside()?)));
        let curve = |name: &str, colour, points: Vec<(f64, f64)>| Curve {
            name: name.into(),
            colour,
            points: points.into_iter().filter(|it| it.1 > 0.0).collect(),
        };
        let curves = vec![
            curve(OURS, Colour::Asid, ours),
            curve(THEIRS, Colour::First, theirs.collect()),
        ];
        let said = curves.iter().filter_map(|it| {
            let ((first, from), (last, to)) = (it.points.first()?, it.points.last()?);
            let places = |value: f64| if value < 10.0 { 2 } else { 0 };
            Some(format!(
                "{} from {} at {} to {} at {}",
                it.name,
                figure(*from, places(*from)),
                figure(*first, 0),
                figure(*to, places(*to)),
                figure(*last, 0)
            ))
        });
        let said: Vec<String> = said.collect();
        Figure {
            caption: caption.into(),
            alternative: format!("Lines, {up} over compartments: {}.", said.join("; ")),
            chart: Chart::Curves(Curves {
                across: "compartments".into(),
                up: up.into(),
                curves,
            }),
        }
    }

    /// Rows of which each has twice as many as the one before, and the last.
    fn sparse(&self) -> impl Iterator<Item = &[u64; 3]> {
        let mut next = 0;
        self.rows.iter().filter(move |it| {
            let is_shown = it[0] >= next || it[0] == self.count;
            if is_shown {
                next = it[0] * 2;
            }
            is_shown
        })
    }

    fn costs(&self) -> Table {
        let header = [
            "instructions",
            "first",
            "last",
            "median of the first 100",
            "of the last 100",
            "mean",
            "most",
        ];
        let mut table = Table::new("Making one, and ending one", &header);
        for (name, it) in [("making", &self.made), ("ending", &self.ended)] {
            let figures = [
                it.first as f64,
                it.last as f64,
                it.first_median,
                it.last_median,
                it.mean,
                it.most as f64,
            ];
            let mut row = vec![name.to_owned()];
            row.extend(figures.map(|it| figure(it, 0)));
            table.row(row);
        }
        table
    }

    fn beside(&self, morello: &Morello) -> Table {
        let caption = format!(
            "Compartments at once. Morello: {}",
            morello.source("number")
        );
        let mut table = Table::new(&caption, &["what", OURS, THEIRS]);
        let used = |count| morello.sized("number", "memory", count)?.inside();
        let first = self.rows.first().map(|it| it[1] as f64 / KIB_OF_MB);
        let last = self.rows.last().map(|it| it[1] as f64 / KIB_OF_MB);
        let each = used(MOST).zip(used(1));
        let each = each.map(|(all, one)| (all - one) * KIB_OF_MB / (MOST - 1) as f64);
        let [before, _, after] = self.free_kib;
        let mut row = |what: &str, figures: [Option<f64>; 2], places| {
            let figures =
                figures.map(|it| it.map_or("not measured".to_owned(), |it| figure(it, places)));
            table.row([vec![what.to_owned()], figures.into()].concat());
        };
        row("at once", [Some(self.count as f64), Some(MOST as f64)], 0);
        row("MB of RAM in use with the first", [first, used(1)], 1);
        row("MB of RAM in use with all", [last, used(MOST)], 1);
        row("KiB for each", [Some(self.kib_each()), each], 1);
        let kept = before.saturating_sub(after) as f64;
        row("KiB that are not free again", [Some(kept), None], 0);
        table
    }
}
