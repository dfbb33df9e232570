// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a sequence of calls on a fresh machine, with all checks.

use donjon_core::checks::Checks;
use donjon_core::translation::Step;

use super::counters::Counters;
use super::invariants;
use super::memory::Violation;
use super::outer::Outer;
use super::random::Random;
use super::small::{self, OwnedStorage};

/// Calls from one look at everything to the next.
const SURVEY_EVERY: u64 = 64;

/// Which steps are lost.
pub type Lost = fn(Step) -> bool;

/// What a run differs in from the real thing.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// Steps that are lost.
    pub deaf_to: Option<Lost>,
    /// Whether each answer is compared with the contract's.
    pub compare: bool,
}

impl Default for Conditions {
    fn default() -> Self {
        Self {
            deaf_to: None,
            compare: true,
        }
    }
}

/// Makes at most `calls` calls, as long as `random` has something to say.
///
/// # Errors
///
/// The number of the call after which something was wrong, and what.
pub fn run<C: Checks>(
    random: Random,
    calls: u64,
    conditions: Conditions,
) -> Result<Counters, (u64, Vec<Violation>)> {
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = small::build::<C>(&mut storage);
    machine.caches.fill(&machine.frames);
    // With the types of now: the first call may change them.
    let held = invariants::check_recent(pools.tables.frames(), &mut machine.caches);
    if !held.is_empty() {
        return Err((0, held));
    }
    machine.deaf_to = conditions.deaf_to;
    let mut outer = Outer::new(random, &machine);
    outer.compare = conditions.compare;
    for call in 0..calls {
        if outer.is_over() {
            break;
        }
        let step = outer.step(&mut machine, &mut pools);
        step.map_err(|violations| (call, violations))?;
        if call % SURVEY_EVERY == 0 {
            let walk_all = outer.walk_all(&machine, &pools);
            walk_all.map_err(|violations| (call, violations))?;
        }
    }
    let walk_all = outer.walk_all(&machine, &pools);
    walk_all.map_err(|violations| (outer.counters.calls, violations))?;
    Ok(outer.counters)
}
