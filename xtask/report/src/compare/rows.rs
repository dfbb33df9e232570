// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction counts of a JSON document, each with a name.
//!
//! Times of the emulator, sizes in memory and numbers of calls are not among them.

use serde_json::{Map, Value};

use donjon_figures::parts::Part;

/// What is said of the kernel without Donjon.
const NATIVE: &str = "native";

/// One count.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was counted, and over which kernel.
    pub name: String,
    /// Instructions.
    pub value: f64,
    /// Whether it is of a fork: where the kernel puts its pages differs from boot to boot.
    pub is_fork: bool,
}

impl Row {
    fn new(subject: &str, of: &str, value: f64) -> Self {
        Self {
            name: format!("{subject}, {of}"),
            value,
            is_fork: subject.contains("fork"),
        }
    }
}

/// Whether a part counts instructions.
pub const fn counts(part: Part) -> bool {
    !matches!(
        part,
        Part::Stress | Part::Attacks | Part::Audit | Part::Kselftests
    )
}

/// All counts of a part.
pub fn of(part: Part, value: &Value) -> Vec<Row> {
    match part {
        Part::Idc => idc(value),
        Part::Lmbench => lmbench(value),
        Part::Calls => calls(value),
        Part::Programs => programs(value),
        Part::Scale => scale(value),
        Part::Compartments => compartments(value),
        Part::Stress | Part::Attacks | Part::Audit | Part::Kselftests => Vec::new(),
    }
}

/// Medians of calls.
fn idc(value: &Value) -> Vec<Row> {
    let of_modes = members(&value["modes"]).filter_map(|(mode, it)| {
        let median = it["median"].as_f64()?;
        Some(Row::new("null IDC", mode, median))
    });
    let others = members(value).filter_map(|(name, it)| {
        let median = it["median"].as_f64()?;
        Some(Row::new(&name.replace('_', " "), "median", median))
    });
    of_modes.chain(others).collect()
}

/// Means over layouts of the stack.
fn lmbench(value: &Value) -> Vec<Row> {
    let of_row = |(name, row): (&String, &Value)| {
        let of_kernel = |(kernel, it): (&String, &Value)| {
            let mean = it.as_f64().or_else(|| it["mean"].as_f64())?;
            Some(Row::new(name, kernel, mean))
        };
        members(row).filter_map(of_kernel).collect::<Vec<_>>()
    };
    members(&value["rows"]).flat_map(of_row).collect()
}

/// Instructions inside, and the longest calls.
fn calls(value: &Value) -> Vec<Row> {
    let operations = items(&value["operations"])
        .filter_map(|it| Some(Row::new(text(it, "name")?, "inside", instructions(it)?)));
    operations.chain(longest(value)).collect()
}

/// Instructions for a unit of work.
fn programs(value: &Value) -> Vec<Row> {
    let of_program = |it| {
        let name = text(it, "name").unwrap_or_default();
        let kernels = members(&it["instructions"]);
        let rows = kernels.filter_map(|(kernel, it)| Some(Row::new(name, kernel, it.as_f64()?)));
        rows.collect::<Vec<_>>()
    };
    items(&value["programs"]).flat_map(of_program).collect()
}

/// Operations by size, the boot, and the longest calls.
fn scale(value: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    for it in items(&value["operations"]) {
        let (name, pages) = (text(it, "name").unwrap_or_default(), &it["pages"]);
        let subject = format!("{name} of {pages} pages");
        let native = instructions(&it[NATIVE]);
        rows.extend(native.map(|it| Row::new(&subject, NATIVE, it)));
        for (mode, it) in members(&it["modes"]) {
            rows.extend(instructions(it).map(|it| Row::new(&subject, mode, it)));
            let inside = it["inside"].as_f64();
            rows.extend(inside.map(|it| Row::new(&subject, &format!("{mode}, inside"), it)));
        }
    }
    let boot = &value["boot"];
    let native = instructions(&boot[NATIVE]);
    rows.extend(native.map(|it| Row::new("boot", NATIVE, it)));
    for (mode, it) in members(&boot["modes"]) {
        rows.extend(instructions(it).map(|it| Row::new("boot", mode, it)));
    }
    rows.extend(longest(value));
    rows
}

/// Calls, loops, messages and memory, on one CPU.
fn compartments(value: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, it) in members(&value["call"]) {
        rows.extend(it["median"].as_f64().map(|it| Row::new(name, "median", it)));
    }
    let loops = items(&value["cpu_loops"]["loops"]).map(|it| (text(it, "name"), it));
    let sizes = items(&value["memory"]["sizes"]);
    for side in ["inside", "outside"] {
        for (name, it) in loops.clone() {
            let name = name.unwrap_or_default();
            rows.extend(it[side].as_f64().map(|it| Row::new(name, side, it)));
        }
        for it in sizes.clone() {
            for (step, count) in members(&it[side]) {
                let subject = format!("{step}, {} MB", it["megabytes"]);
                rows.extend(count.as_f64().map(|it| Row::new(&subject, side, it)));
            }
        }
    }
    for it in items(&value["pipe"]["ways"]) {
        let (name, total) = (text(it, "name").unwrap_or_default(), it["total"].as_f64());
        rows.extend(total.map(|it| Row::new(name, "messages", it)));
    }
    rows
}

fn longest(value: &Value) -> impl Iterator<Item = Row> {
    items(&value["longest"]).filter_map(|it| {
        let mode = text(it, "mode").map_or("longest".to_owned(), |it| format!("longest, {it}"));
        Some(Row::new(text(it, "function")?, &mode, instructions(it)?))
    })
}

fn instructions(value: &Value) -> Option<f64> {
    value["instructions"].as_f64()
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value[key].as_str()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> + Clone {
    value.as_array().into_iter().flatten()
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::fixture;

    fn value_of(part: Part, name: &str) -> f64 {
        let rows = of(part, &fixture(part));
        let row = rows.iter().find(|it| it.name == name);
        row.unwrap_or_else(|| panic!("no row {name}: {rows:?}"))
            .value
    }

    #[test]
    fn counts_are_found_where_the_commands_write_them() {
        assert_eq!(value_of(Part::Lmbench, "null, native"), 0.3);
        assert_eq!(value_of(Part::Lmbench, "fork+exit, asid"), 294.0);
        assert_eq!(value_of(Part::Calls, "fork+exit, inside"), 4150.0);
        assert_eq!(value_of(Part::Calls, "flush, longest"), 11_963.0);
        assert_eq!(value_of(Part::Programs, "sqlite3 insert, tlbi"), 20_300.0);
        assert_eq!(value_of(Part::Compartments, "user, median"), 901.0);
        assert_eq!(value_of(Part::Compartments, "channel, messages"), 4000.0);
    }

    #[test]
    fn every_part_that_counts_has_rows_with_names_of_their_own() {
        for part in Part::ALL {
            let rows = of(part, &fixture(part));
            assert_eq!(!rows.is_empty(), counts(part), "{}", part.name());
            let mut names: Vec<_> = rows.iter().map(|it| &it.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), rows.len(), "{}", part.name());
        }
    }

    #[test]
    fn forks_are_told_from_the_rest() {
        let rows = of(Part::Lmbench, &fixture(Part::Lmbench));
        for row in rows {
            assert_eq!(row.is_fork, row.name.starts_with("fork+"), "{}", row.name);
        }
    }
}
