// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures that are recorded: the tables of the documentation are made of them, and no count may
//! grow unnoticed.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use comfy_table::{CellAlignment, Table, presets};
use donjon_builder::arguments::HostArguments;
use donjon_builder::environment::{self, Needs};
use donjon_figures::counts::{Count, null_call, operations, pairs};
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::finding::Finding;
use donjon_machine::paths;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lmbench::{self, Effort, Programs, ROWS, Row, Samples, figures};
use super::{ALL_SWITCHES, CPU, measure_calls, measure_idc, tables, virt};
use crate::arguments::{BenchCommand, LmbenchArguments};
use crate::resume::Run;

/// Where they are.
const FILE: &str = "docs/figures.json";
/// A count may grow by this factor, and by half an instruction.
const GROWTH: f64 = 1.02;
/// Factor by which the cost of an operation inside may grow. Its addresses are not randomized, but
/// a program of another length has its heap elsewhere, and with it perhaps one table more.
const GROWTH_INSIDE: f64 = 1.06;
/// Names of these counts end so.
const INSIDE: &str = ", inside";
const HALF: f64 = 0.5;

/// Content of `FILE`.
#[derive(Serialize, Deserialize)]
pub struct Figures {
    /// Document of `bench idc --json`.
    pub idc: Value,
    /// Document of `bench calls --json`.
    pub calls: Value,
    /// Our own programs in the place of LMBench's, one layout, mode `asid`: instructions by row.
    pub quick: BTreeMap<String, f64>,
    /// Document of `bench lmbench --json`.
    pub lmbench: Value,
}

impl Figures {
    /// What is recorded.
    pub fn recorded() -> Result<Self> {
        let text = fs::read_to_string(paths::in_root(FILE)).with_context(|| {
            format!("reading {FILE}, which `cargo xtask bench --record` writes")
        })?;
        serde_json::from_str(&text).context(FILE)
    }

    fn counts(&self) -> Vec<Count> {
        let gate = null_call(&self.idc).chain(operations(&self.calls));
        gate.chain(of_quick(&self.quick)).collect()
    }
}

fn of_quick(quick: &BTreeMap<String, f64>) -> impl Iterator<Item = Count> {
    let name = |row: &String| format!("LMBench's {row}");
    quick
        .iter()
        .map(move |(row, it)| Count::new(&name(row), "own program", *it))
}

/// Rows that a short run measures, with programs of our own.
pub fn quick(host: &HostArguments) -> Result<BTreeMap<String, f64>> {
    let rows = ROWS.iter().filter(|it| it.samples != Samples::Slow);
    let rows: Vec<&Row> = rows.collect();
    let effort = Effort {
        enough: 40_000,
        samples: 9,
        samples_of_file: 9,
        ..Effort::new(1, false)
    };
    let machine = MachineArguments {
        cpu: Some(CPU.into()),
        cpus: Some(1),
        icount: true,
        ..MachineArguments::virt(Switch::Asid)
    };
    let programs = Programs::own(&rows);
    let run = &mut Run::alone();
    let all = figures(host, &machine, &programs, &rows, effort, run)?;
    let instructions = |it: Vec<f64>| (it[0] * 1000.0).round();
    Ok(rows
        .iter()
        .zip(all)
        .map(|(row, all)| (row.name.to_owned(), instructions(all)))
        .collect())
}

/// Fails if one of `now` is more than what is recorded, or if one is recorded or measured alone.
fn compare(now: &[Count], recorded: &[Count]) -> Result<()> {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["instructions", "recorded", "now", "change"]);
    let mut grown = Vec::new();
    for pair in pairs(now, recorded) {
        let (
            Count {
                name, value: now, ..
            },
            then,
        ) = match pair {
            (Some(now), Some(then)) => (now, then.value),
            (Some(now), None) => {
                grown.push(format!("{} is not recorded", now.name));
                continue;
            }
            (None, then) => {
                let then = then.map_or("", |it| &it.name);
                grown.push(format!("{then} is recorded, and not measured now"));
                continue;
            }
        };
        let percent = (now / then - 1.0) * 100.0;
        table.add_row([
            name.clone(),
            format!("{then:.0}"),
            format!("{now:.0}"),
            format!("{percent:+.1} %"),
        ]);
        let allowed = if name.ends_with(INSIDE) {
            GROWTH_INSIDE
        } else {
            GROWTH
        };
        if *now > then * allowed + HALF {
            grown.push(format!("{name}: {then:.0} recorded, {now:.0} now"));
        }
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!("{table}");
    if grown.is_empty() {
        return Ok(());
    }
    Err(Finding::Figures.error(format!(
        "more instructions than {FILE} has: {}; if that is meant, run `cargo xtask bench --record`",
        grown.join("; ")
    )))
}

/// The short form: the gate and the rows of LMBench, without the native kernel.
pub fn check_quickly(host: &HostArguments) -> Result<()> {
    let modes = [Switch::Asid, Switch::Tlbi, Switch::Strict];
    let idc = measure_idc(host, &virt(CPU, Switch::Asid, true), &modes)?.json();
    let quick = quick(host)?;
    let of = |idc, quick| -> Vec<Count> { null_call(idc).chain(of_quick(quick)).collect() };
    let figures = Figures::recorded()?;
    compare(&of(&idc, &quick), &of(&figures.idc, &figures.quick))
}

/// What operations cost inside, from a measurement that was made anyway.
pub fn check_calls(calls: &super::calls::Calls) -> Result<()> {
    let of = |calls| -> Vec<Count> { operations(calls).collect() };
    let recorded = Figures::recorded()?.calls;
    compare(&of(&serde_json::to_value(calls)?), &of(&recorded))
}

/// Compares everything that is recorded but LMBench itself; returns the exit status.
pub fn check(host: &HostArguments) -> Result<u8> {
    environment::prepare(host, Needs::default())?;
    let now = Figures {
        idc: measure_idc(host, &virt(CPU, Switch::Asid, true), &ALL_SWITCHES)?.json(),
        calls: serde_json::to_value(measure_calls(host, &virt(CPU, Switch::Asid, true))?)?,
        quick: quick(host)?,
        lmbench: Value::Null,
    };
    match compare(&now.counts(), &Figures::recorded()?.counts()) {
        Ok(()) => Ok(0),
        Err(error) => {
            eprintln!("{error:#}");
            Ok(1)
        }
    }
}

/// Measures everything, writes the file and the tables.
pub fn record(arguments: &BenchCommand) -> Result<()> {
    let host = &arguments.host;
    environment::prepare(host, Needs::default())?;
    let lmbench = LmbenchArguments::of_defaults(host, arguments.layouts, arguments.fresh);
    // First: it is the longest, and what it has is kept if the rest is interrupted.
    let (lmbench, run) = lmbench::report(&lmbench)?;
    let calls = measure_calls(host, &virt(CPU, Switch::Asid, true))?;
    calls.check()?;
    let figures = Figures {
        idc: measure_idc(host, &virt(CPU, Switch::Asid, true), &ALL_SWITCHES)?.json(),
        calls: serde_json::to_value(calls)?,
        quick: quick(host)?,
        lmbench: lmbench.json(),
    };
    let text = serde_json::to_string_pretty(&figures)? + "\n";
    fs::write(paths::in_root(FILE), text).with_context(|| format!("writing {FILE}"))?;
    tables::write(&figures, false)?;
    run.end()
}

/// Fails unless the tables of the documentation are what the file says.
pub fn tables_are_current() -> Result<()> {
    tables::write(&Figures::recorded()?, true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_are_found_in_the_documents() {
        let figures = Figures {
            idc: json!({"modes": {"asid": {"median": 59.0}}}),
            calls: json!({"operations": [{"name": "fork", "instructions": 7.5}]}),
            quick: BTreeMap::from([("mmap".to_owned(), 3.0)]),
            lmbench: Value::Null,
        };
        let expected = [
            Count::new("null IDC", "asid", 59.0),
            Count::new("fork", "inside", 7.5),
            Count::new("LMBench's mmap", "own program", 3.0),
        ];
        assert_eq!(figures.counts(), expected);
    }

    #[test]
    fn a_count_that_is_not_measured_any_more_is_named() {
        let recorded = [
            Count::new("null IDC", "asid", 1.0),
            Count::new("fork", "inside", 1.0),
            Count::new("mmap", "inside", 1.0),
        ];
        let now = &recorded[..2];
        let error = compare(now, &recorded).expect_err("one is missing");
        assert!(
            error.to_string().contains(": mmap, inside is recorded, "),
            "{error}"
        );
        assert!(!error.to_string().contains("fork"), "{error}");
        assert_eq!(Finding::of(&error), Some(Finding::Figures));
        assert!(compare(&recorded, &recorded).is_ok());
    }
}
