// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures that are recorded: the tables of the documentation are made of them, and no count may
//! grow unnoticed.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use donjon_builder::arguments::HostArguments;
use donjon_builder::environment::{self, Needs};
use donjon_figures::records::calls::Calls;
use donjon_figures::records::idc::Idc;
use donjon_figures::records::recorded::Recorded;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::finding::Finding;
use donjon_machine::paths;

use super::lmbench::{self, Effort, Programs, ROWS, Row, Samples, figures};
use super::{Record, calls, tables};
use crate::arguments::{BenchCommand, LmbenchArguments};
use crate::guest::{CPU, virt};
use crate::idc::{ALL_SWITCHES, measure_all};
use crate::resume::Run;
use crate::table::{percent, table};

/// Where they are.
const FILE: &str = "docs/figures.json";
/// A count may grow by this factor, and by half an instruction.
const GROWTH: f64 = 1.02;
/// Factor by which the cost of an operation inside may grow. Its addresses are not randomized, but
/// a program of another length has its heap elsewhere, and with it perhaps one table more.
const GROWTH_INSIDE: f64 = 1.06;
/// Names of these counts begin so.
const INSIDE: &str = "inside, ";
const HALF: f64 = 0.5;

/// Instructions by what they are of.
pub type Counts = BTreeMap<String, f64>;

/// What is recorded.
fn recorded() -> Result<Recorded> {
    let text = fs::read_to_string(paths::in_root(FILE))
        .with_context(|| format!("reading {FILE}, which `cargo xtask bench --record` writes"))?;
    serde_json::from_str(&text).context(FILE)
}

fn counts(all: &Recorded) -> Counts {
    let parts = [of_idc(&all.idc), of_calls(&all.calls), of_quick(&all.quick)];
    parts.into_iter().flatten().collect()
}

fn of_idc(idc: &Idc) -> Counts {
    let modes = idc.figures.modes.iter();
    modes
        .map(|(mode, cost)| (format!("null IDC, {mode}"), cost.median))
        .collect()
}

fn of_calls(calls: &Calls) -> Counts {
    let operations = calls.operations.iter();
    operations
        .map(|it| (format!("{INSIDE}{}", it.name), it.instructions))
        .collect()
}

fn of_quick(quick: &Counts) -> Counts {
    let name = |row: &String| format!("LMBench's {row}, own program");
    quick.iter().map(|(row, it)| (name(row), *it)).collect()
}

/// Rows that a short run measures, with programs of our own.
pub fn quick(host: &HostArguments) -> Result<Counts> {
    let rows = ROWS.iter().filter(|it| it.samples != Samples::Slow);
    let rows: Vec<&Row> = rows.collect();
    let effort = Effort {
        enough: 40_000,
        samples: 9,
        samples_of_file: 9,
        ..Effort::new(1, false)
    };
    let programs = Programs::own(&rows);
    let run = &mut Run::alone();
    let all = figures(host, &machine(), &programs, &rows, effort, run)?;
    let instructions = |it: Vec<f64>| (it[0] * 1000.0).round();
    Ok(rows
        .iter()
        .zip(all)
        .map(|(row, all)| (row.name.to_owned(), instructions(all)))
        .collect())
}

/// Fails if one of `now` is more than what is recorded, or if one is recorded or measured alone.
fn compare(now: &Counts, recorded: &Counts) -> Result<()> {
    let mut rows = Vec::new();
    let mut grown = Vec::new();
    for (name, now) in now {
        let Some(then) = recorded.get(name) else {
            grown.push(format!("{name} is not recorded"));
            continue;
        };
        let change = percent(*now, *then);
        rows.push(vec![
            name.clone(),
            format!("{then:.0}"),
            format!("{now:.0}"),
            format!("{change:+.1} %"),
        ]);
        let allowed = if name.starts_with(INSIDE) {
            GROWTH_INSIDE
        } else {
            GROWTH
        };
        if *now > then * allowed + HALF {
            grown.push(format!("{name}: {then:.0} recorded, {now:.0} now"));
        }
    }
    for name in recorded.keys().filter(|it| !now.contains_key(*it)) {
        grown.push(format!("{name} is recorded, and not measured now"));
    }
    let header = ["instructions", "recorded", "now", "change"];
    println!("{}", table(1, header, rows));
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
    let mut now = of_idc(&measure_all(host, &machine(), &modes)?);
    now.extend(of_quick(&quick(host)?));
    let figures = recorded()?;
    let mut recorded = of_idc(&figures.idc);
    recorded.extend(of_quick(&figures.quick));
    compare(&now, &recorded)
}

/// What operations cost inside, from a measurement that was made anyway.
pub fn check_calls(calls: &Calls) -> Result<()> {
    compare(&of_calls(calls), &of_calls(&recorded()?.calls))
}

/// Compares everything that is recorded but LMBench itself; returns the exit status.
pub fn check(host: &HostArguments) -> Result<u8> {
    environment::prepare(host, Needs::default())?;
    let mut now = of_idc(&measure_all(host, &machine(), &ALL_SWITCHES)?);
    now.extend(of_calls(&calls::measure_on(host, &machine())?));
    now.extend(of_quick(&quick(host)?));
    match compare(&now, &counts(&recorded()?)) {
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
    let calls = calls::measure_on(host, &machine())?;
    calls.check()?;
    let figures = Recorded {
        idc: measure_all(host, &machine(), &ALL_SWITCHES)?,
        calls,
        quick: quick(host)?,
        lmbench: lmbench.record,
    };
    let text = serde_json::to_string_pretty(&figures)? + "\n";
    fs::write(paths::in_root(FILE), text).with_context(|| format!("writing {FILE}"))?;
    tables::write(&figures, false)?;
    run.end()
}

fn machine() -> MachineArguments {
    virt(CPU, Switch::Asid, true)
}

/// Fails unless the tables of the documentation are what the file says.
pub fn tables_are_current() -> Result<()> {
    tables::write(&recorded()?, true)
}

#[cfg(test)]
mod tests {
    use donjon_figures::records::calls::Operation;
    use donjon_figures::records::idc::Cost;

    use super::*;

    #[test]
    fn counts_are_found_in_the_documents() {
        let mut figures = Recorded {
            quick: [("mmap".to_owned(), 3.0)].into(),
            ..Recorded::default()
        };
        let cost = Cost {
            median: 59.0,
            ..Cost::default()
        };
        figures.idc.figures.modes.insert("asid".into(), cost);
        figures.calls.operations.push(Operation {
            name: "fork".into(),
            instructions: 7.5,
            ..Operation::default()
        });
        let expected = [
            ("LMBench's mmap, own program".to_owned(), 3.0),
            ("inside, fork".to_owned(), 7.5),
            ("null IDC, asid".to_owned(), 59.0),
        ];
        assert_eq!(counts(&figures), BTreeMap::from(expected));
    }

    #[test]
    fn a_count_that_is_not_measured_any_more_is_named() {
        let counts = |names: &[&str]| -> Counts {
            let all = names.iter().map(|it| ((*it).to_owned(), 1.0));
            all.collect()
        };
        let recorded = counts(&["null IDC, asid", "inside, fork", "inside, mmap"]);
        let now = counts(&["null IDC, asid", "inside, fork"]);
        let error = compare(&now, &recorded).expect_err("one is missing");
        assert!(
            error.to_string().contains(": inside, mmap is recorded, "),
            "{error}"
        );
        assert!(!error.to_string().contains("fork"), "{error}");
        assert_eq!(Finding::of(&error), Some(Finding::Figures));
        assert!(compare(&recorded, &recorded).is_ok());
    }
}
