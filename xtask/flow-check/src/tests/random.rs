// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random programs: what is replayed is what ran.

use std::collections::HashMap;

use proptest::prelude::*;

use super::compare::{events, input, same};
use super::generator::random;
use super::interpreter::{Machine, Plan};
use crate::program::Program;

/// Runs of each program.
const RUNS: u64 = 4;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_replayed_path_is_the_one_that_ran(
        seed in any::<u64>(),
        fuel in 0_usize..4000,
        words in 1_usize..8,
    ) {
        let program = random(seed);
        let (text, labels) = program.assemble();
        let checked = Program::check(input(&text, &labels));
        let checked = checked.map_err(|it| TestCaseError::fail(format!("{it:x?}")))?;
        for run in 0..RUNS {
            let plan = Plan { fuel: fuel / (1 + run as usize), words, resets: false, taken: 500 };
            let run = Machine::new(&text, seed ^ run, plan).run();
            same(&checked, &run, &labels).map_err(TestCaseError::fail)?;
        }
    }

    #[test]
    fn a_log_with_one_bit_changed_is_refused_or_another_path(
        seed in any::<u64>(),
        place in any::<prop::sample::Index>(),
        bit in 0_u32..64,
    ) {
        let program = random(seed);
        let (text, labels) = program.assemble();
        let checked = Program::check(input(&text, &labels));
        let checked = checked.map_err(|it| TestCaseError::fail(format!("{it:x?}")))?;
        let plan = Plan { fuel: 1000, words: 4, resets: false, taken: 500 };
        let mut run = Machine::new(&text, seed, plan).run();
        let before = events(&checked, &run).expect("a path");
        let count: usize = run.segments.iter().map(|it| it.0.len()).sum();
        prop_assume!(count > 0);
        let mut words = run.segments.iter_mut().flat_map(|it| &mut it.0);
        let word = words.nth(place.index(count)).expect("inside");
        // An address in x30 to which nothing returned is part of no path.
        let is_address = *word < 1 << 32;
        *word ^= 1 << bit;
        if let Ok(after) = events(&checked, &run) {
            prop_assert!(before != after || is_address);
        }
    }

    #[test]
    fn no_log_makes_the_replay_panic(
        seed in any::<u64>(),
        words in prop::collection::vec(prop_oneof![
            any::<u64>(), 0_u64..200, 0x40_0000_u64..0x40_1000, (0_u64..64).prop_map(|it| 1 << it),
        ], 0..40),
        path in any::<u64>(),
        pc in 0_u64..0x1000,
    ) {
        let program = random(seed);
        let (text, labels) = program.assemble();
        let checked = Program::check(input(&text, &labels)).expect("lawful");
        let plan = Plan { fuel: 0, words: 1, resets: false, taken: 500 };
        let mut run = Machine::new(&text, seed, plan).run();
        run.segments[0].0 = words;
        run.segments[0].1.path = path;
        run.segments[0].1.pc += pc;
        let _ = events(&checked, &run);
    }

    #[test]
    fn no_text_makes_the_checker_panic(
        words in prop::collection::vec(any::<u32>(), 0..60),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 0..4),
        seed in any::<u64>(),
    ) {
        let (mut text, labels) = random(seed).assemble();
        for (at, word) in changes {
            let at = at.index(text.len());
            text[at] = word;
        }
        let _ = Program::check(input(&text, &labels));
        let _ = Program::check(input(&words, &labels));
    }
}

/// Looks for two runs of one program with equal logs and different paths.
fn collides(seed: u64, resets: bool) -> bool {
    let (text, _) = random(seed).assemble();
    let mut seen = HashMap::new();
    (0..48).any(|run| {
        let plan = Plan {
            fuel: 400,
            words: 2,
            resets,
            taken: 500,
        };
        let run = Machine::new(&text, run, plan).run();
        let ends: Vec<_> = run.segments.iter().map(|it| (it.1.pc, it.1.path)).collect();
        let words: Vec<_> = run.segments.iter().map(|it| it.0.clone()).collect();
        let other = seen.insert((words, ends), run.trace.clone());
        other.is_some_and(|it| it != run.trace)
    })
}

#[test]
fn path_bits_that_begin_anew_with_each_segment_would_make_two_paths_equal() {
    let found = (0..1000).find(|&it| collides(it, true));
    assert!(found.is_some(), "the control finds nothing");
    let found = (0..1000).find(|&it| collides(it, false));
    assert_eq!(found, None);
}
