// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction counts of a JSON document, each with a name, and pairs of those of two runs.
//!
//! Times of the emulator, sizes in memory and numbers of calls are not among them.

use serde_json::{Map, Value};

use crate::records::NATIVE;

/// A number of instructions.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// What was counted, and over which kernel.
    pub name: String,
    /// Instructions.
    pub value: f64,
    /// Whether it is of a fork: where the kernel puts its pages differs from boot to boot.
    pub is_fork: bool,
}

impl Count {
    /// Names a count by its subject and by what of that was counted.
    pub fn new(subject: &str, of: &str, value: f64) -> Self {
        Self {
            name: format!("{subject}, {of}"),
            value,
            is_fork: subject.contains("fork"),
        }
    }
}

/// Two counts of one name; one is missing if only the other run has it.
pub type Pair<'a> = (Option<&'a Count>, Option<&'a Count>);

/// Pairs the counts of two runs by their names: those of the first one in its order, then those
/// that only the second one has.
pub fn pairs<'a>(one: &'a [Count], other: &'a [Count]) -> Vec<Pair<'a>> {
    fn named<'a>(all: &'a [Count], name: &str) -> Option<&'a Count> {
        all.iter().find(|it| it.name == name)
    }
    let first = one.iter().map(|it| (Some(it), named(other, &it.name)));
    let alone = other.iter().filter(|it| named(one, &it.name).is_none());
    first.chain(alone.map(|it| (None, Some(it)))).collect()
}

/// Lists medians of the null call, by mode.
fn null_call(idc: &Value) -> impl Iterator<Item = Count> {
    members(&idc["modes"]).filter_map(|(mode, it)| {
        let median = it["median"].as_f64()?;
        Some(Count::new("null IDC", mode, median))
    })
}

/// Lists medians of calls.
pub fn idc(value: &Value) -> Vec<Count> {
    let others = members(value).filter_map(|(name, it)| {
        let median = it["median"].as_f64()?;
        Some(Count::new(&name.replace('_', " "), "median", median))
    });
    null_call(value).chain(others).collect()
}

/// Lists means over layouts of the stack.
pub fn lmbench(value: &Value) -> Vec<Count> {
    let of_row = |(name, row): (&String, &Value)| {
        let of_kernel = |(kernel, it): (&String, &Value)| {
            let mean = it.as_f64().or_else(|| it["mean"].as_f64())?;
            Some(Count::new(name, kernel, mean))
        };
        members(row).filter_map(of_kernel).collect::<Vec<_>>()
    };
    members(&value["rows"]).flat_map(of_row).collect()
}

/// Lists what operations execute inside.
fn operations(calls: &Value) -> impl Iterator<Item = Count> {
    items(&calls["operations"])
        .filter_map(|it| Some(Count::new(text(it, "name")?, "inside", instructions(it)?)))
}

/// Lists what operations execute inside, and the longest calls.
pub fn calls(value: &Value) -> Vec<Count> {
    operations(value).chain(longest(value)).collect()
}

/// Lists instructions for a unit of work.
pub fn programs(value: &Value) -> Vec<Count> {
    let of_program = |it| {
        let name = text(it, "name").unwrap_or_default();
        let kernels = members(&it["instructions"]);
        let rows = kernels.filter_map(|(kernel, it)| Some(Count::new(name, kernel, it.as_f64()?)));
        rows.collect::<Vec<_>>()
    };
    items(&value["programs"]).flat_map(of_program).collect()
}

/// Lists operations by size, the boot, and the longest calls.
pub fn scale(value: &Value) -> Vec<Count> {
    let mut rows = Vec::new();
    for it in items(&value["operations"]) {
        let (name, pages) = (text(it, "name").unwrap_or_default(), &it["pages"]);
        let subject = format!("{name} of {pages} pages");
        let native = instructions(&it[NATIVE]);
        rows.extend(native.map(|it| Count::new(&subject, NATIVE, it)));
        for (mode, it) in members(&it["modes"]) {
            rows.extend(instructions(it).map(|it| Count::new(&subject, mode, it)));
            let inside = it["inside"].as_f64();
            rows.extend(inside.map(|it| Count::new(&subject, &format!("{mode}, inside"), it)));
        }
    }
    let boot = &value["boot"];
    let native = instructions(&boot[NATIVE]);
    rows.extend(native.map(|it| Count::new("boot", NATIVE, it)));
    for (mode, it) in members(&boot["modes"]) {
        rows.extend(instructions(it).map(|it| Count::new("boot", mode, it)));
    }
    rows.extend(longest(value));
    rows
}

/// Lists the programs of flow attestation, in each build.
pub fn flow(value: &Value) -> Vec<Count> {
    let of_program = |(name, it): (&String, &Value)| {
        let figures =
            members(it).filter(|(what, _)| !["repetitions", "words"].contains(&what.as_str()));
        let rows = figures
            .filter_map(|(what, it)| Some(Count::new(name, &what.replace('_', " "), it.as_f64()?)));
        rows.collect::<Vec<_>>()
    };
    members(&value["fig5"]["programs"])
        .flat_map(of_program)
        .collect()
}

/// Lists calls, loops, messages and memory, on one CPU.
pub fn compartments(value: &Value) -> Vec<Count> {
    let mut rows = Vec::new();
    for (name, it) in members(&value["call"]) {
        rows.extend(
            it["median"]
                .as_f64()
                .map(|it| Count::new(name, "median", it)),
        );
    }
    let loops = items(&value["cpu_loops"]["loops"]).map(|it| (text(it, "name"), it));
    let sizes = items(&value["memory"]["sizes"]);
    for side in ["inside", "outside"] {
        for (name, it) in loops.clone() {
            let name = name.unwrap_or_default();
            rows.extend(it[side].as_f64().map(|it| Count::new(name, side, it)));
        }
        for it in sizes.clone() {
            for (step, count) in members(&it[side]) {
                let subject = format!("{step}, {} MB", it["megabytes"]);
                rows.extend(count.as_f64().map(|it| Count::new(&subject, side, it)));
            }
        }
    }
    for it in items(&value["pipe"]["ways"]) {
        let (name, total) = (text(it, "name").unwrap_or_default(), it["total"].as_f64());
        rows.extend(total.map(|it| Count::new(name, "messages", it)));
    }
    rows
}

fn longest(value: &Value) -> impl Iterator<Item = Count> {
    items(&value["longest"]).filter_map(|it| {
        let mode = text(it, "mode").map_or("longest".to_owned(), |it| format!("longest, {it}"));
        Some(Count::new(text(it, "function")?, &mode, instructions(it)?))
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

    #[test]
    fn counts_of_one_name_are_a_pair() {
        let counts = |names: &[&str]| -> Vec<Count> {
            let all = names.iter().map(|it| Count::new(it, "asid", 1.0));
            all.collect()
        };
        let (one, other) = (counts(&["a", "b"]), counts(&["c", "b"]));
        let pairs = pairs(&one, &other);
        let name = |it: Option<&Count>| it.map_or("", |it| it.name.as_str()).to_owned();
        let names: Vec<_> = pairs
            .iter()
            .map(|it| name(it.0) + "/" + &name(it.1))
            .collect();
        assert_eq!(names, ["a, asid/", "b, asid/b, asid", "/c, asid"]);
    }
}
