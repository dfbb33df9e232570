// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events times cycles: what figures might be on a core. `costs.csv` has the cycles and says where
//! each is from. Nothing of this is a measurement.

use anyhow::{Result, ensure};
use donjon_figures::published;
use minijinja::Value;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

/// What costs cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A write of TCR_EL1 and the ISB behind it.
    TcrWrite,
    /// An ISB by itself.
    Isb,
    /// Any other instruction.
    Instruction,
    /// A system call.
    SystemCall,
}

/// What an event costs on a core.
#[derive(Debug, Deserialize, Serialize)]
pub struct Cost {
    /// The core.
    pub core: String,
    /// The event.
    pub event: Event,
    /// Cycles at least.
    pub least: f64,
    /// Cycles at most.
    pub most: f64,
    /// Where the figures are from.
    pub source: String,
}

/// Cycles, from least to most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cycles {
    /// At least.
    pub least: f64,
    /// At most.
    pub most: f64,
}

/// Numbers of each event. They may be negative, where a mode takes less than native.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Events {
    /// Writes of TCR_EL1, each with an ISB behind it.
    pub tcr_writes: f64,
    /// Further ISBs.
    pub isbs: f64,
    /// Other instructions.
    pub instructions: f64,
}

impl Events {
    /// The events of `calls` null calls, each of which takes `instructions`.
    pub fn of_calls(calls: f64, instructions: f64, tcr_writes: f64, isbs: f64) -> Self {
        Self {
            tcr_writes: calls * tcr_writes,
            isbs: calls * (isbs - tcr_writes).max(0.0),
            instructions: calls * (instructions - tcr_writes - isbs),
        }
    }
}

/// Gives the events of `calls` null calls to a template; nothing if they were not counted.
pub fn events_of(call: &Value, calls: Option<f64>) -> Option<Value> {
    let count = |name| f64::try_from(call.get_attr(name).ok()?).ok();
    let (median, writes, isbs) = (count("median")?, count("tcr_writes")?, count("isb")?);
    let events = Events::of_calls(calls?, median, writes, isbs);
    Some(Value::from(Serde(events)))
}

/// Multiplies events by their costs on a core; nothing if one of them has no figure.
pub fn project(costs: &[Cost], core: &str, events: Events) -> Option<Cycles> {
    let mut sum = Cycles::default();
    let parts = [
        (events.tcr_writes, Event::TcrWrite),
        (events.isbs, Event::Isb),
        (events.instructions, Event::Instruction),
    ];
    for (count, event) in parts {
        if count == 0.0 {
            continue;
        }
        let cost = costs
            .iter()
            .find(|it| it.core == core && it.event == event)?;
        let both = [count * cost.least, count * cost.most];
        sum.least += both[0].min(both[1]);
        sum.most += both[0].max(both[1]);
    }
    Some(sum)
}

/// The table of costs.
///
/// # Errors
///
/// If the file is not one.
pub fn costs() -> Result<Vec<Cost>> {
    let costs: Vec<Cost> = published::read("costs.csv", include_str!("costs.csv"))?;
    let is_sound = |it: &Cost| it.least <= it.most && !it.source.is_empty();
    ensure!(costs.iter().all(is_sound), "costs.csv: a range or a source");
    Ok(costs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(event: Event, least: f64, most: f64) -> Cost {
        Cost {
            core: "c".into(),
            event,
            least,
            most,
            source: "s".into(),
        }
    }

    #[test]
    fn events_are_multiplied_by_their_cost() {
        let costs = [
            cost(Event::TcrWrite, 20.0, 30.0),
            cost(Event::Isb, 10.0, 11.0),
            cost(Event::Instruction, 1.0, 1.0),
        ];
        let call = Events::of_calls(1.0, 60.0, 2.0, 3.0);
        let expected = Events {
            tcr_writes: 2.0,
            isbs: 1.0,
            instructions: 55.0,
        };
        assert_eq!(call, expected);
        let cycles = project(&costs, "c", call).expect("cycles");
        assert_eq!((cycles.least, cycles.most), (105.0, 126.0));
    }

    #[test]
    fn what_has_no_figure_is_not_projected() {
        let costs = [cost(Event::Instruction, 1.0, 1.0)];
        let call = Events::of_calls(1.0, 60.0, 2.0, 2.0);
        assert_eq!(project(&costs, "c", call), None);
        let instructions = Events {
            tcr_writes: 0.0,
            ..call
        };
        assert!(project(&costs, "c", instructions).is_some());
        assert_eq!(project(&costs, "d", instructions), None);
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
            let call = Events::of_calls(1.0, instructions, writes, writes);
            let projected = project(&costs, "gem5's core o3", call);
            let projected = projected.expect("cycles").least;
            assert!((projected - cycles).abs() < 0.5, "{projected}");
        }
    }
}
