// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events times cycles: what figures might be on a core. `costs.csv` has the cycles and says where
//! each is from. Nothing of this is a measurement.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use donjon_figures::published;
use minijinja::Value;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

/// What an event costs on a core.
#[derive(Debug, Deserialize, Serialize)]
pub struct Cost {
    /// The core.
    core: String,
    /// The event.
    event: String,
    /// Cycles at least.
    least: f64,
    /// Cycles at most.
    most: f64,
    /// Where the figures are from.
    source: String,
}

/// Cycles, from least to most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cycles {
    least: f64,
    most: f64,
}

/// How often each event is. A count may be negative, where a mode takes less than native.
pub type Events = BTreeMap<String, f64>;

/// Counts the events of null calls, each of so many instructions; a write has an ISB behind it.
fn of_calls(calls: f64, instructions: f64, writes: f64, isbs: f64) -> Events {
    let counts = [
        ("tcr_write", writes),
        ("isb", (isbs - writes).max(0.0)),
        ("instruction", instructions - writes - isbs),
    ];
    counts
        .map(|(event, count)| (event.to_owned(), calls * count))
        .into()
}

/// Gives a template the events of null calls; nothing if they were not counted.
pub fn events_of(call: &Value, calls: Option<f64>) -> Option<Value> {
    let count = |name| f64::try_from(call.get_attr(name).ok()?).ok();
    let (median, writes, isbs) = (count("median")?, count("tcr_writes")?, count("isb")?);
    Some(Value::from(Serde(of_calls(calls?, median, writes, isbs))))
}

/// Multiplies events by their costs on a core; nothing if one of them has no figure.
pub fn project(costs: &[Cost], core: &str, events: &Events) -> Option<Cycles> {
    let mut sum = Cycles::default();
    for (event, count) in events.iter().filter(|it| *it.1 != 0.0) {
        let cost = costs
            .iter()
            .find(|it| it.core == core && it.event == *event)?;
        let both = [count * cost.least, count * cost.most];
        sum.least += both[0].min(both[1]);
        sum.most += both[0].max(both[1]);
    }
    Some(sum)
}

/// Reads the table of costs.
///
/// # Errors
///
/// If the file is not one.
pub fn costs() -> Result<Vec<Cost>> {
    let text = include_str!("projection/costs.csv");
    let costs: Vec<Cost> = published::read("costs.csv", text)?;
    let is_sound = |it: &Cost| it.least <= it.most && !it.source.is_empty();
    ensure!(costs.iter().all(is_sound), "costs.csv: a range or a source");
    Ok(costs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs_of(all: &[(&str, f64, f64)]) -> Vec<Cost> {
        let cost = |(event, least, most): &(&str, f64, f64)| Cost {
            core: "c".into(),
            event: (*event).to_owned(),
            least: *least,
            most: *most,
            source: "s".into(),
        };
        all.iter().map(cost).collect()
    }

    #[test]
    fn events_are_multiplied_by_their_cost() {
        let costs = costs_of(&[
            ("tcr_write", 20.0, 30.0),
            ("isb", 10.0, 11.0),
            ("instruction", 1.0, 1.0),
        ]);
        let call = of_calls(1.0, 60.0, 2.0, 3.0);
        let counts = ["tcr_write", "isb", "instruction"].map(|it| call[it]);
        assert_eq!(counts, [2.0, 1.0, 55.0]);
        let cycles = project(&costs, "c", &call).expect("cycles");
        assert_eq!((cycles.least, cycles.most), (105.0, 126.0));
    }

    #[test]
    fn what_has_no_figure_is_not_projected() {
        let costs = costs_of(&[("instruction", 1.0, 1.0)]);
        let mut call = of_calls(1.0, 60.0, 2.0, 2.0);
        assert_eq!(project(&costs, "c", &call), None);
        call.insert("tcr_write".into(), 0.0);
        assert!(project(&costs, "c", &call).is_some());
        assert_eq!(project(&costs, "d", &call), None);
    }

    #[test]
    fn each_cost_names_a_source_that_can_be_looked_up() {
        let costs = costs().expect("the file");
        assert!(costs.len() >= 3);
        for it in costs {
            let can_be = ["docs/", "https://"]
                .iter()
                .any(|at| it.source.contains(at));
            assert!(can_be, "{it:?}");
        }
    }

    #[test]
    fn the_costs_of_a_core_give_what_they_were_made_from() {
        let costs = costs().expect("the file");
        for (instructions, writes, cycles) in [(59.0, 2.0, 122.0), (72.0, 4.0, 194.0)] {
            let call = of_calls(1.0, instructions, writes, writes);
            let projected = project(&costs, "gem5's core o3", &call);
            let projected = projected.expect("cycles").least;
            assert!((projected - cycles).abs() < 0.5, "{projected}");
        }
    }
}
