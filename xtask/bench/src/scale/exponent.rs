// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast a cost grows: the exponent of the power of the work that fits best.

use std::collections::BTreeMap;

use donjon_figures::records::scale::{Cpus, Exponent, LastSteps, Operation, Protected};

use super::cpus::waits_of_a_call;
use super::operations::NAMES;

/// Sizes below count for nothing: what is the same for all sizes outweighs the rest.
const LEAST_PAGES: u64 = 16;
/// Most that an exponent over pages may be: the cost grows as the work, not faster.
pub const MOST: f64 = 1.05;
/// Largest sizes between which the exponent is looked at by itself: a straight line through all
/// sizes hides a cost that begins to grow late.
const LAST_SIZES: usize = 3;
/// Costs that may grow faster than that between the largest sizes, and how fast. Linux unmaps much
/// memory in pieces. Each ends within a table, whose entries are then dropped one by one;
/// docs/scale.md has the figures.
const EXEMPT: [(&str, f64); 1] = [("unmap, inside", 1.2)];
const PAGES: &str = "pages";
/// Behind the name of an operation: its instructions in the inner domain.
const INSIDE: &str = ", inside";

/// The kernels for which it is more than [`MOST`], and where that matters.
pub fn above(exponent: &Exponent) -> impl Iterator<Item = String> {
    let kernels = exponent.modes.iter().filter(|_| exponent.over == PAGES);
    let above = kernels.filter(|it| *it.1 > MOST);
    above.map(|(mode, it)| format!("{} ({mode}): {it:.3}", exponent.name))
}

/// The kernels for which a step between the largest sizes is more than it may be.
pub fn above_at_the_end(exponent: &Exponent) -> Vec<String> {
    let mut above = Vec::new();
    if let Some(steps) = &exponent.last_steps {
        for (mode, exponents) in &steps.modes {
            for (it, most) in exponents.iter().zip(&steps.at_most) {
                if it > most {
                    let name = &exponent.name;
                    above.push(format!("{name} ({mode}): {it:.3}, not {most:.3}"));
                }
            }
        }
    }
    above
}

/// The largest sizes' exponents, each from one size to the next. Empty if something is not above
/// zero.
fn last_steps(points: &[(f64, f64)]) -> Vec<f64> {
    let last = &points[points.len().saturating_sub(LAST_SIZES)..];
    let steps: Option<Vec<f64>> = last.windows(2).map(slope).collect();
    steps.unwrap_or_default()
}

/// What the steps of a cost may be. Where the native kernel's own work grows faster than the pages,
/// so may that of a mode.
fn limits(name: &str, native: &[f64]) -> Vec<f64> {
    let exempt = EXEMPT.iter().find(|it| it.0 == name);
    let least = exempt.map_or(MOST, |it| it.1);
    let limit = |it: &f64| match *it > MOST {
        true => least.max(it + (MOST - 1.0)),
        false => least,
    };
    native.iter().map(limit).collect()
}

/// The slope of the logarithm of costs over that of the work, by least squares. None if there are
/// fewer than two different sizes, or something is not above zero.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    if points
        .iter()
        .any(|(work, cost)| *work <= 0.0 || *cost <= 0.0)
    {
        return None;
    }
    let count = points.len() as f64;
    let logarithms = || points.iter().map(|(work, cost)| (work.ln(), cost.ln()));
    let mean_work = logarithms().map(|it| it.0).sum::<f64>() / count;
    let mean_cost = logarithms().map(|it| it.1).sum::<f64>() / count;
    let spread: f64 = logarithms().map(|it| (it.0 - mean_work).powi(2)).sum();
    let common: f64 = logarithms()
        .map(|it| (it.0 - mean_work) * (it.1 - mean_cost))
        .sum();
    (spread > 0.0).then(|| common / spread)
}

/// Exponents of the instructions of each operation, and of its instructions that are inside.
pub fn of_operations(operations: &[Operation]) -> Vec<Exponent> {
    let mut all = Vec::new();
    for name in NAMES {
        let rows = || {
            operations
                .iter()
                .filter(|it| it.name == name && it.pages >= LEAST_PAGES)
        };
        let Some(first) = rows().next() else { continue };
        let native: Vec<_> = rows()
            .map(|it| (it.pages as f64, it.native.instructions))
            .collect();
        let native_steps = last_steps(&native);
        let exponent = |name: String, native: &[(f64, f64)], part: fn(&Protected) -> f64| {
            let points = |mode: &String| -> Vec<(f64, f64)> {
                let cost = |it: &Operation| Some((it.pages as f64, part(it.modes.get(mode)?)));
                rows().filter_map(cost).collect()
            };
            let modes = || first.modes.keys();
            let of_mode = |mode: &String| Some((mode.clone(), slope(&points(mode))?));
            let steps = |mode: &String| (mode.clone(), last_steps(&points(mode)));
            Exponent {
                over: PAGES.into(),
                native: slope(native),
                modes: modes().filter_map(of_mode).collect(),
                last_steps: Some(LastSteps {
                    native: last_steps(native),
                    modes: modes().map(steps).collect(),
                    at_most: limits(&name, &native_steps),
                }),
                name,
            }
        };
        all.push(exponent(name.into(), &native, |it| it.instructions));
        all.push(exponent(format!("{name}{INSIDE}"), &[], |it| it.inside));
    }
    all
}

/// Names costs of several sizes that have no exponent in a mode: one of them was not above zero, so
/// nothing was counted.
pub fn missing(operations: &[Operation], exponents: &[Exponent]) -> Vec<String> {
    let mut missing = Vec::new();
    for name in NAMES {
        let rows = || operations.iter().filter(|it| it.name == name);
        if rows().filter(|it| it.pages >= LEAST_PAGES).count() < 2 {
            continue;
        }
        for mode in rows().next().into_iter().flat_map(|it| it.modes.keys()) {
            for cost in [name.to_owned(), format!("{name}{INSIDE}")] {
                let found = exponents.iter().find(|it| it.name == cost);
                if !found.is_some_and(|it| it.modes.contains_key(mode)) {
                    missing.push(format!("{cost} ({mode})"));
                }
            }
        }
    }
    missing
}

/// Exponent of the number of times that a lock was found held, for each call. One CPU never waits.
pub fn of_cpus(cpus: &[Cpus]) -> Option<Exponent> {
    let rows = || cpus.iter().filter(|it| it.cpus > 1);
    let mut modes = BTreeMap::new();
    for mode in cpus.first()?.modes.keys() {
        let points: Vec<_> = rows()
            .filter_map(|it| Some((f64::from(it.cpus), waits_of_a_call(it.modes.get(mode)?))))
            .collect();
        // Two points are no growth to speak of.
        if let Some(slope) = slope(&points).filter(|_| points.len() > 2) {
            modes.insert(mode.clone(), slope);
        }
    }
    (!modes.is_empty()).then(|| Exponent {
        name: "waits of a call".into(),
        over: "cpus".into(),
        native: None,
        modes,
        last_steps: None,
    })
}

#[cfg(test)]
mod tests {
    use donjon_figures::records::scale::Native;

    use super::*;

    fn operation(pages: u64, native: f64, asid: f64) -> Operation {
        let protected = Protected {
            instructions: asid,
            calls: 1.0,
            inside: asid - native,
        };
        Operation {
            name: "map".into(),
            pages,
            repetitions: 1,
            native: Native {
                instructions: native,
            },
            modes: BTreeMap::from([("asid".into(), protected)]),
        }
    }

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        let power = |exponent: f64| {
            let points = [16.0_f64, 256.0, 4096.0].map(|it| (it, 7.0 * it.powf(exponent)));
            slope(&points).expect("a slope")
        };
        for exponent in [0.0, 0.5, 1.0, 1.7] {
            assert!((power(exponent) - exponent).abs() < 1e-9);
        }
        assert_eq!(slope(&[(16.0, 5.0), (16.0, 6.0)]), None);
        assert_eq!(slope(&[(16.0, 0.0), (256.0, 6.0)]), None);
    }

    #[test]
    fn what_counted_nothing_is_missing() {
        let rows = [(16, 32.0), (256, 512.0)].map(|(pages, cost)| operation(pages, cost, cost));
        let missing = missing(&rows, &of_operations(&rows));
        assert_eq!(missing, ["map, inside (asid)"]);
    }

    #[test]
    fn what_grows_faster_than_the_work_is_named() {
        // Size 1 counts for nothing.
        let linear = [(1, 9e9), (16, 16.0), (256, 256.0), (4096, 4096.0)];
        let rows = |growth: f64| {
            let row = |(pages, native): (u64, f64)| {
                operation(pages, native, native + (pages as f64).powf(growth))
            };
            of_operations(&linear.map(row))
        };
        let [total, inside] = &rows(1.0)[..] else {
            panic!("two rows")
        };
        assert!((total.native.expect("native") - 1.0).abs() < 1e-9);
        assert_eq!(above(total).chain(above(inside)).count(), 0);
        let faster = rows(1.2);
        let named: Vec<_> = faster.iter().flat_map(above).collect();
        assert_eq!(named[1], "map, inside (asid): 1.200");
    }

    #[test]
    fn growth_that_begins_late_is_named() {
        // A line through all sizes is flat: the cost of a call outweighs the rest until the end.
        let inside = [
            (16, 7e5),
            (256, 7e5),
            (4096, 7e5),
            (65_536, 7e5),
            (262_144, 5.6e6),
        ];
        let rows =
            |inside: [(u64, f64); 5]| {
                of_operations(&inside.map(|(pages, it)| {
                    operation(pages, 1e3 * pages as f64, 1e3 * pages as f64 + it)
                }))
            };
        let late = rows(inside);
        assert_eq!(late.iter().flat_map(above).count(), 0);
        let named: Vec<_> = late.iter().flat_map(above_at_the_end).collect();
        assert_eq!(named, ["map, inside (asid): 1.500, not 1.050"]);
        let even = rows(inside.map(|(pages, _)| (pages, 10.0 * pages as f64)));
        assert!(even.iter().all(|it| above_at_the_end(it).is_empty()));
    }

    #[test]
    fn what_grows_so_natively_may_grow_so_in_a_mode() {
        let near = |limits: Vec<f64>, expected: [f64; 2]| {
            let pairs = limits.iter().zip(expected);
            limits.len() == 2 && pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9)
        };
        assert!(near(limits("map", &[0.998, 1.04]), [1.05, 1.05]));
        assert!(near(limits("map", &[0.998, 1.111]), [1.05, 1.161]));
        assert!(near(limits("unmap, inside", &[0.998, 1.111]), [1.2, 1.2]));
        assert!(near(limits("unmap, inside", &[0.998, 1.3]), [1.2, 1.35]));
    }

    #[test]
    fn each_exemption_is_of_a_cost() {
        for (cost, most) in EXEMPT {
            let operation = cost.strip_suffix(INSIDE).unwrap_or(cost);
            assert!(NAMES.contains(&operation) && most > MOST, "{cost}");
        }
    }
}
