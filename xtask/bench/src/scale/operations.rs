// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations on memory: instructions, calls, and instructions inside, by size.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use donjon_builder::run::Parts;
use donjon_figures::records::NATIVE;
use donjon_figures::records::scale::{Native, Operation, Protected};
use donjon_machine::arguments::MachineArguments;

use super::guests::Guests;
use super::plan::Plan;
use crate::guest::PLACES;
use crate::samples::median;

/// Names, in the order of the table.
pub const NAMES: [&str; 5] = ["map", "unmap", "protect", "read", "fork"];
/// Memory of a guest that maps 1 GiB.
const MEMORY: &str = "3G";
const TIMEOUT: Duration = Duration::from_secs(1800);

/// A machine with room for the largest size.
pub fn machine(one_cpu: MachineArguments, plan: &Plan) -> MachineArguments {
    let is_large = plan.pages.last().is_some_and(|it| *it > 1 << 16);
    MachineArguments {
        memory: is_large.then(|| MEMORY.to_owned()),
        ..one_cpu
    }
}

/// Measures all sizes over a kernel, and adds them to `all`.
pub fn measure(
    parts: &Parts,
    plan: &Plan,
    kernel: &str,
    guests: &mut Guests<'_>,
    all: &mut Vec<Operation>,
) -> Result<()> {
    let title = format!("operations ({kernel})");
    let command = command(plan, kernel);
    guests.next(&title, &parts.boot, (&command, TIMEOUT), |text| {
        for name in &plan.operations {
            for pages in &plan.pages {
                add(all, name, *pages as u64, kernel, text)?;
            }
        }
        Ok(())
    })
}

/// What the guest runs: first everything as it is, then once more with all calls measured, which
/// makes them longer.
fn command(plan: &Plan, kernel: &str) -> String {
    let sizes: Vec<String> = plan.pages.iter().map(ToString::to_string).collect();
    let (sizes, names) = (sizes.join(" "), plan.operations.join(" "));
    let of = |option: &str| {
        format!("for pages in {sizes}; do donjon-scale {option} $pages {names} || exit 1; done\n")
    };
    let mut command = format!("{PLACES} || exit 1\n{}", of(""));
    if kernel != NATIVE {
        command.push_str(&of("--inside"));
    }
    command
}

/// The numbers of each line `KIND: NAME PAGES NUMBER…` of an operation.
fn samples<const N: usize>(text: &str, kind: &str, name: &str, pages: u64) -> Vec<[f64; N]> {
    let start = format!("{kind}: {name} {pages} ");
    let numbers = text.lines().filter_map(|line| {
        let words = line.strip_prefix(&start)?.split(' ').map(str::parse);
        let numbers: Vec<f64> = words.collect::<Result<_, _>>().ok()?;
        numbers.try_into().ok()
    });
    numbers.collect()
}

fn add(all: &mut Vec<Operation>, name: &str, pages: u64, kernel: &str, text: &str) -> Result<()> {
    let all_of_it: Vec<[f64; 1]> = samples(text, "sample", name, pages);
    let repetitions = all_of_it.len();
    let missing = || format!("the guest measured no {name} of {pages} pages");
    let instructions = median(all_of_it.into_iter().flatten()).with_context(missing)?;
    if kernel == NATIVE {
        all.push(Operation {
            name: name.into(),
            pages,
            repetitions,
            native: Native { instructions },
            modes: BTreeMap::new(),
        });
        return Ok(());
    }
    let calls: Vec<[f64; 2]> = samples(text, "inside", name, pages);
    let of = |which: usize| median(calls.iter().map(|it| it[which])).with_context(missing);
    let row = all
        .iter_mut()
        .find(|it| it.name == name && it.pages == pages);
    let row = row.context("the native kernel is measured first")?;
    row.modes.insert(
        kernel.into(),
        Protected {
            instructions,
            calls: of(0)?,
            inside: of(1)?,
        },
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
sample: map 16 48000
sample: unmap 16 9
sample: map 16 90000
sample: map 16 48100
sample: map 1 5
sample: map 16 4 8
inside: map 16 16 2384
inside: map 16 18 2386
";

    #[test]
    fn medians_of_the_samples_of_one_row() {
        let mut all = Vec::new();
        add(&mut all, "map", 16, NATIVE, SAID).expect("native is first");
        add(&mut all, "map", 16, "asid", SAID).expect("the row is there");
        assert_eq!(
            (all[0].repetitions, all[0].native.instructions),
            (3, 48_100.0)
        );
        let asid = all[0].modes["asid"];
        assert_eq!(
            (asid.instructions, asid.calls, asid.inside),
            (48_100.0, 17.0, 2385.0)
        );
    }

    #[test]
    fn what_was_not_measured_is_no_figure() {
        let mut all = Vec::new();
        assert!(add(&mut all, "map", 1, "asid", SAID).is_err());
        assert!(add(&mut all, "map", 256, NATIVE, SAID).is_err());
        add(&mut all, "map", 1, NATIVE, SAID).expect("it is there");
        assert!(add(&mut all, "map", 1, "asid", SAID).is_err());
    }
}
