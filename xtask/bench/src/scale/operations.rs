// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations on memory: instructions, calls, and instructions inside, by size.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_builder::run::Parts;
use donjon_machine::arguments::MachineArguments;
use serde::Serialize;

use super::plan::Plan;
use super::report::NATIVE;
use crate::calls::PLACES;
use crate::output_of;

/// Names, in the order of the table.
pub const NAMES: [&str; 5] = ["map", "unmap", "protect", "read", "fork"];
/// Of a guest that maps 1 GiB.
const MEMORY: &str = "3G";
const TIMEOUT: Duration = Duration::from_secs(1800);

/// An operation on so many pages.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Operation {
    /// What is done.
    pub name: String,
    /// On how many pages of 4 KiB.
    pub pages: u64,
    /// How often it was measured; figures are medians.
    pub repetitions: usize,
    /// Over the native kernel.
    pub native: Native,
    /// In each mode.
    pub modes: BTreeMap<String, Protected>,
}

/// What it costs natively.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Native {
    /// Instructions of one operation.
    pub instructions: f64,
}

/// What it costs in a mode.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Protected {
    /// Instructions of one operation, those inside among them.
    pub instructions: f64,
    /// Calls of the inner domain.
    pub calls: f64,
    /// Instructions of these calls, without the gate.
    pub inside: f64,
}

/// A machine with room for the largest size.
pub fn machine(one_cpu: MachineArguments, plan: &Plan) -> MachineArguments {
    let is_large = plan.pages.last().is_some_and(|it| *it > 1 << 16);
    MachineArguments {
        memory: is_large.then(|| MEMORY.to_owned()),
        ..one_cpu
    }
}

/// Measures all sizes over a kernel, and adds them to `all`.
pub fn measure(parts: &Parts, plan: &Plan, kernel: &str, all: &mut Vec<Operation>) -> Result<()> {
    let sizes: Vec<String> = plan.pages.iter().map(ToString::to_string).collect();
    let command = format!(
        "{PLACES} || exit 1\nfor pages in {}; do donjon-scale $pages {} || exit 1; done",
        sizes.join(" "),
        plan.operations.join(" ")
    );
    let text = output_of(&parts.boot, &command, TIMEOUT)?;
    for name in &plan.operations {
        for pages in &plan.pages {
            let samples: Vec<Protected> = samples(&text, name, *pages as u64).collect();
            ensure!(
                !samples.is_empty(),
                "the guest measured no {name} of {pages} pages"
            );
            add(all, name, *pages as u64, kernel, &samples)?;
        }
    }
    Ok(())
}

/// `sample: NAME PAGES INSTRUCTIONS CALLS INSIDE`
fn samples<'a>(text: &'a str, name: &str, pages: u64) -> impl Iterator<Item = Protected> + 'a {
    let start = format!("sample: {name} {pages} ");
    text.lines().filter_map(move |line| {
        let words = line.strip_prefix(&start)?.split(' ').map(str::parse);
        let numbers: Vec<f64> = words.collect::<Result<_, _>>().ok()?;
        let [instructions, calls, inside] = numbers[..] else {
            return None;
        };
        Some(Protected {
            instructions,
            calls,
            inside,
        })
    })
}

fn add(
    all: &mut Vec<Operation>,
    name: &str,
    pages: u64,
    kernel: &str,
    samples: &[Protected],
) -> Result<()> {
    let of = |part: fn(&Protected) -> f64| median(samples.iter().map(part).collect());
    let figures = Protected {
        instructions: of(|it| it.instructions),
        calls: of(|it| it.calls),
        inside: of(|it| it.inside),
    };
    if kernel == NATIVE {
        all.push(Operation {
            name: name.into(),
            pages,
            repetitions: samples.len(),
            native: Native {
                instructions: figures.instructions,
            },
            modes: BTreeMap::new(),
        });
        return Ok(());
    }
    let row = all
        .iter_mut()
        .find(|it| it.name == name && it.pages == pages);
    let row = row.context("the native kernel is measured first")?;
    row.modes.insert(kernel.into(), figures);
    Ok(())
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let middle = |it: usize| figures.get(it).copied().unwrap_or(0.0);
    (middle(figures.len().saturating_sub(1) / 2) + middle(figures.len() / 2)) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
sample: map 16 48000 16 2384
sample: unmap 16 9 9 9
sample: map 16 90000 18 2386
sample: map 16 48100 17 2385
sample: map 1 5 5 5
sample: map 16 48000
";

    #[test]
    fn medians_of_the_samples_of_one_row() {
        let said: Vec<_> = samples(SAID, "map", 16).collect();
        assert_eq!(said.len(), 3);
        let mut all = Vec::new();
        add(&mut all, "map", 16, NATIVE, &said).expect("native is first");
        add(&mut all, "map", 16, "asid", &said[..2]).expect("the row is there");
        assert_eq!(all[0].native.instructions, 48_100.0);
        let asid = all[0].modes["asid"];
        assert_eq!(
            (asid.instructions, asid.calls, asid.inside),
            (69_000.0, 17.0, 2385.0)
        );
        assert!(add(&mut all, "map", 1, "asid", &said).is_err());
    }
}
