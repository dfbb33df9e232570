// SPDX-License-Identifier: MIT OR Apache-2.0
//! LMBench, and what others published of its rows.

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Chapter, NATIVE, headline, modes};
use crate::document::{Block, Figure, Section, Table};
use crate::plot::{Bar, Bars, Chart, Colour, Group};
use crate::published::{self, Published};
use donjon_figures::format::{number, percent};
use donjon_figures::parts::Part;

/// Document of `bench lmbench --json`.
#[derive(Deserialize)]
pub struct Lmbench {
    unit: String,
    layouts: u64,
    source: String,
    rows: Map<String, Value>,
}

/// A row in a mode.
#[derive(Deserialize)]
struct Cell {
    mean: f64,
    stddev: f64,
    overhead_percent: f64,
}

/// A row.
struct Row {
    name: String,
    native: f64,
    cells: Vec<(String, Cell)>,
}

impl Row {
    fn read(name: &str, value: &Value) -> Result<Self> {
        let object = value.as_object().context("a row is no object")?;
        let native = object.get(NATIVE).and_then(Value::as_f64);
        let native = native.context("a row has no native figure")?;
        let cells = modes(object.keys()).into_iter().map(|mode| {
            let cell = serde_json::from_value(object[&mode].clone())?;
            Ok((mode, cell))
        });
        Ok(Self {
            name: name.to_owned(),
            native,
            cells: cells
                .collect::<Result<_>>()
                .with_context(|| format!("row {name}"))?,
        })
    }

    fn added(&self, mode: &str) -> Option<f64> {
        let cell = self.cells.iter().find(|it| it.0 == mode);
        cell.map(|it| it.1.overhead_percent)
    }
}

/// A column of others.
struct Column {
    title: &'static str,
    system: &'static str,
    platform: &'static str,
    variant: &'static str,
    colour: Colour,
    /// Whether it is comparable with mode `asid`, and so in the second chart.
    is_drawn: bool,
}

const fn column(
    title: &'static str,
    [system, platform, variant]: [&'static str; 3],
    colour: Colour,
    is_drawn: bool,
) -> Column {
    Column {
        title,
        system,
        platform,
        variant,
        colour,
        is_drawn,
    }
}

const COLUMNS: [Column; 6] = [
    column(
        "Hilps asid, A57",
        ["Hilps", "Cortex-A57", "asid"],
        Colour::First,
        true,
    ),
    column(
        "Hilps asid, A53",
        ["Hilps", "Cortex-A53", "asid"],
        Colour::Second,
        true,
    ),
    column(
        "Hilps ti, A57",
        ["Hilps", "Cortex-A57", "ti"],
        Colour::First,
        false,
    ),
    column(
        "Hilps ti, A53",
        ["Hilps", "Cortex-A53", "ti"],
        Colour::Second,
        false,
    ),
    column(
        "BULKHEAD, x86",
        ["BULKHEAD", "x86", ""],
        Colour::Third,
        true,
    ),
    column(
        "Sulfur, RPi 3 B+",
        ["Sulfur", "Raspberry", ""],
        Colour::Fourth,
        false,
    ),
];

impl Column {
    fn of(&self, published: &[Published], row: &str) -> Option<f64> {
        let this =
            |it: &&Published| it.row == row && it.is(self.system, self.platform, self.variant);
        published.iter().find(this)?.added()
    }
}

pub(super) fn chapter(lmbench: &Lmbench) -> Result<Chapter> {
    let rows: Vec<Row> = lmbench
        .rows
        .iter()
        .map(|(name, value)| Row::read(name, value))
        .collect::<Result<_>>()?;
    let all_modes: Vec<String> = rows
        .iter()
        .flat_map(|it| &it.cells)
        .map(|it| it.0.clone())
        .collect();
    let all_modes = modes(&all_modes);
    let published = published::all()?;
    let mut section = Section::new(Part::Lmbench.name(), Part::Lmbench.title());
    section.text(format!(
        "LMBench ({}), in microseconds of 1,000 instructions; mean over {} places of the stack in \
         its page. Percent are what a mode adds to the native kernel.",
        lmbench.source, lmbench.layouts
    ));
    if lmbench.unit != "microseconds" {
        section.note(format!("The unit of this file is {}.", lmbench.unit));
    }
    section.add(Block::Figure(ours(&rows, &all_modes)));
    section.add(Block::Table(beside(&rows, &all_modes, &published)));
    section.text(
        "The columns of others are times: Hilps (NDSS 2017, Tables III and IV; `ti` invalidates \
         the TLB as `tlbi` does), BULKHEAD (NDSS 2025, its monitor alone), Sulfur (its Figure 7). \
         Ours are instructions, in which neither a barrier nor a TLB miss costs more than one.",
    );
    if let Some(figure) = theirs(&rows, &published) {
        section.add(Block::Figure(figure));
    }
    section.add(Block::Details(
        "The same in microseconds of 1,000 instructions".into(),
        vec![Block::Table(spreads(&rows, &all_modes))],
    ));
    section.add(published::others(&published));
    let mut chapter = Chapter {
        section,
        headline: Vec::new(),
    };
    let by_cost = |one: &&Row, other: &&Row| {
        let cost = |row: &Row| row.added("asid").unwrap_or(f64::NEG_INFINITY);
        cost(one).total_cmp(&cost(other))
    };
    if let Some(most) = rows.iter().max_by(by_cost)
        && let Some(added) = most.added("asid")
    {
        chapter.headline.push(headline(
            percent(added),
            format!(
                "most that `asid` adds to one of {} rows of LMBench ({})",
                rows.len(),
                most.name
            ),
        ));
    }
    Ok(chapter)
}

fn ours(rows: &[Row], modes: &[String]) -> Figure {
    let groups = rows.iter().map(|row| Group {
        name: row.name.clone(),
        bars: row
            .cells
            .iter()
            .map(|(mode, cell)| Bar {
                series: modes.iter().position(|it| it == mode).unwrap_or_default(),
                value: cell.overhead_percent,
                deviation: cell.stddev / row.native * 100.0,
                text: percent(cell.overhead_percent),
            })
            .collect(),
        mark: None,
    });
    let series = modes.iter().map(|it| (Colour::of_mode(it), it.clone()));
    let said = rows.iter().filter_map(|row| {
        let first = row.cells.first()?;
        Some(format!(
            "{} {}",
            row.name,
            percent(first.1.overhead_percent)
        ))
    });
    let said: Vec<String> = said.collect();
    Figure {
        caption: "What each mode adds to the native kernel, in percent of instructions. Whiskers: \
                  standard deviation over places of the stack, in percent of native."
            .into(),
        alternative: format!(
            "Bars in groups, percent over native. {}: {}. The table below has all modes.",
            modes.first().map_or("Mode", String::as_str),
            said.join("; ")
        ),
        chart: Chart::Bars(Bars {
            unit: "percent more instructions than native".into(),
            suffix: " %",
            places: 0,
            series: series.collect(),
            mark: None,
            groups: groups.collect(),
        }),
    }
}

fn beside(rows: &[Row], modes: &[String], published: &[Published]) -> Table {
    let mut header = vec!["row".to_owned(), "native, microseconds".to_owned()];
    header.extend(modes.iter().map(|it| format!("`{it}`")));
    header.extend(COLUMNS.iter().map(|it| it.title.to_owned()));
    let mut table = Table {
        caption: "What each mode adds (instructions), beside what others published (times)".into(),
        header,
        words: 1,
        rows: Vec::new(),
    };
    for row in rows {
        let mut cells = vec![row.name.clone(), number(row.native, 3)];
        let cell = |it: Option<f64>| it.map_or(String::new(), percent);
        cells.extend(modes.iter().map(|it| cell(row.added(it))));
        cells.extend(COLUMNS.iter().map(|it| cell(it.of(published, &row.name))));
        table.row(cells);
    }
    table.without_empty_columns()
}

fn theirs(rows: &[Row], published: &[Published]) -> Option<Figure> {
    let drawn: Vec<&Column> = COLUMNS.iter().filter(|it| it.is_drawn).collect();
    let bar = |series, value: f64| Bar {
        series,
        value,
        deviation: 0.0,
        text: percent(value),
    };
    let mut groups = Vec::new();
    for row in rows {
        let others = drawn
            .iter()
            .enumerate()
            .filter_map(|(number, column)| Some(bar(number + 1, column.of(published, &row.name)?)));
        let others: Vec<Bar> = others.collect();
        if let (Some(ours), false) = (row.added("asid"), others.is_empty()) {
            let bars = [vec![bar(0, ours)], others].concat();
            groups.push(Group {
                name: row.name.clone(),
                bars,
                mark: None,
            });
        }
    }
    let mut series = vec![(Colour::Asid, "Donjon asid (instructions, QEMU)".to_owned())];
    series.extend(
        drawn
            .iter()
            .map(|it| (it.colour, format!("{} (time)", it.title))),
    );
    let said: Vec<String> = groups
        .iter()
        .map(|it| {
            let figures: Vec<&str> = it.bars.iter().map(|bar| bar.text.as_str()).collect();
            format!("{} {}", it.name, figures.join(", "))
        })
        .collect();
    (!groups.is_empty()).then(|| Figure {
        caption: "Rows that others published as well. Theirs are times on hardware, ours \
                  instructions in an emulator: the lengths of two colours are not of one kind."
            .into(),
        alternative: format!(
            "Bars in groups, percent over the unprotected system, ours first, then those of \
             others: {}.",
            said.join("; ")
        ),
        chart: Chart::Bars(Bars {
            unit: "percent more than without the protection".into(),
            suffix: " %",
            places: 0,
            series,
            mark: None,
            groups,
        }),
    })
}

fn spreads(rows: &[Row], modes: &[String]) -> Table {
    let mut header = vec!["row".to_owned(), NATIVE.to_owned()];
    header.extend(
        modes
            .iter()
            .map(|it| format!("`{it}` ± standard deviation")),
    );
    let mut table = Table {
        caption: "Microseconds of 1,000 instructions".into(),
        header,
        words: 1,
        rows: Vec::new(),
    };
    for row in rows {
        let mut cells = vec![row.name.clone(), number(row.native, 4)];
        cells.extend(modes.iter().map(|mode| {
            let cell = row.cells.iter().find(|it| it.0 == *mode);
            cell.map_or(String::new(), |(_, it)| {
                format!("{} ± {}", number(it.mean, 4), number(it.stddev, 4))
            })
        }));
        table.row(cells);
    }
    table
}
