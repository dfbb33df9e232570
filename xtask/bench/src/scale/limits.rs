// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a run of scale must not find.

use anyhow::Result;
use donjon_figures::records::scale::Scale;
use donjon_machine::finding::Finding;

use super::exponent::{self, MOST};
use super::memory;
use crate::calls;

/// Fails if a cost grows faster than the work, if the inner domain or the reserve has more memory
/// than it may have, or if a call is too long.
pub fn check(scale: &Scale) -> Result<()> {
    let wrong: Vec<String> = wrong(scale).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Finding::Figures.error(wrong.join("\n")))
}

fn wrong(scale: &Scale) -> impl Iterator<Item = String> {
    let exponents = &scale.exponents;
    let growth = exponents.iter().flat_map(exponent::above);
    let growth = growth.map(|it| format!("the exponent is above {MOST}: {it}"));
    let late = exponents.iter().flat_map(exponent::above_at_the_end);
    let late = late.map(|it| format!("between the largest sizes the exponent is {it}"));
    let missing = exponent::missing(&scale.operations, exponents).into_iter();
    let missing = missing.map(|it| format!("a size of {it} costs nothing: it was not counted"));
    let memory = scale.memory.iter().flat_map(memory::above);
    let long = scale
        .longest
        .iter()
        .filter(|it| !calls::is_bounded(&it.call));
    let long = long.map(|it| {
        format!(
            "{} takes {} instructions in one call ({})",
            it.call.function, it.call.instructions, it.mode
        )
    });
    growth.chain(late).chain(missing).chain(memory).chain(long)
}

#[cfg(test)]
mod tests {
    use donjon_figures::records::calls::Longest as Call;
    use donjon_figures::records::scale::{Exponent, Inner, LastSteps, Longest, Memory};

    use super::*;

    fn record(exponent: f64, inner_kib: u64, map: u64) -> Scale {
        let inner = Inner {
            inner_kib,
            reserve_kib: Some(inner_kib),
            ..Inner::default()
        };
        Scale {
            exponents: vec![Exponent {
                name: "map".into(),
                over: "pages".into(),
                native: Some(9.0),
                modes: [("asid".into(), exponent)].into(),
                last_steps: Some(LastSteps {
                    native: vec![9.0],
                    modes: [("asid".into(), vec![exponent + 0.1])].into(),
                    at_most: vec![1.155],
                }),
            }],
            memory: vec![Memory {
                ram_kib: 1 << 20,
                modes: [("asid".into(), inner)].into(),
                ..Memory::default()
            }],
            longest: vec![Longest {
                mode: "asid".into(),
                call: Call {
                    function: "map".into(),
                    instructions: map,
                },
            }],
            ..Scale::default()
        }
    }

    #[test]
    fn each_limit_is_checked() {
        check(&record(1.0, 19_000, 9_000)).expect("all is well");
        let wrong = |record| check(&record).expect_err("a limit").to_string();
        let exponent = wrong(record(1.06, 19_000, 9_000));
        assert!(exponent.contains("map (asid): 1.060"), "{exponent}");
        let late = "the exponent is map (asid): 1.160, not 1.155";
        assert!(exponent.contains(late), "{exponent}");
        let memory = wrong(record(1.0, 40_000, 9_000));
        assert!(memory.contains("inner domain has 40000 KiB"), "{memory}");
        assert!(memory.contains("reserve has 40000 KiB"), "{memory}");
        let call = wrong(record(1.0, 19_000, 20_001));
        assert!(call.contains("map takes 20001"), "{call}");
    }
}
