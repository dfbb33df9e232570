// SPDX-License-Identifier: MIT OR Apache-2.0
//! All readings of a log, by a search over the runs of a program that does not use the decoder.

use super::assembler::Code;
use super::compare::{input, same};
use super::generator::{layered, random};
use super::interpreter::{Machine, Plan, Run};
use crate::program::Program;
use crate::replay::{Ending, Limits, replay};

/// Instructions that a reading may be longer than the run.
const LONGER: usize = 150;

/// Steps of one search.
const STEPS: usize = 15_000;

/// Counts the runs of a text that leave the log of a run, by trying both ways of each condition.
/// `None`: there are too many to be tried.
fn readings(text: &[u32], seed: u64, plan: Plan, run: &Run) -> Option<u64> {
    let mut found = 0;
    let mut open = vec![Machine::new(text, seed, plan)];
    let mut steps = 0;
    while let Some(mut machine) = open.pop() {
        let most = run.trace.len() + LONGER;
        while machine.follows(run) && machine.instructions() < most {
            steps += 1;
            if steps > STEPS {
                return None;
            }
            found += u64::from(machine.has_left(run));
            if machine.is_at_condition() {
                let mut other = machine.clone();
                other.force(false);
                open.extend(other.advance().then_some(other));
                machine.force(true);
            }
            if !machine.advance() {
                found += u64::from(machine.has_left(run));
                break;
            }
        }
    }
    Some(found)
}

/// Counts the readings of runs of random programs. Each run is handed to `judge` with their number.
fn count(
    programs: std::ops::Range<u64>,
    make: impl Fn(u64) -> Code,
    plan: Plan,
    mut judge: impl FnMut(&Program, &Run, u64) -> bool,
) -> u64 {
    let mut judged = 0;
    for seed in programs {
        let (text, labels) = make(seed).assemble();
        let program = Program::check(input(&text, &labels)).expect("lawful");
        for run in 0..4 {
            let seed = seed << 8 | run;
            let ran = Machine::new(&text, seed, plan).run();
            let Some(found) = readings(&text, seed, plan, &ran) else {
                continue;
            };
            assert!(found > 0, "the search does not find the run itself, {seed}");
            if found == 1 && !plan.resets {
                assert_eq!(same(&program, &ran, &labels), Ok(()), "{seed}");
            }
            judged += 1;
            if judge(&program, &ran, found) {
                return judged;
            }
        }
    }
    judged
}

/// Says whether a run ended by itself.
fn is_whole(run: &Run) -> bool {
    run.segments
        .last()
        .is_some_and(|it| it.1.how == Ending::Finished)
}

/// A border at each record.
const PLAN: Plan = Plan {
    fuel: 400,
    words: 1,
    resets: false,
    taken: 300,
};

#[test]
fn a_whole_run_with_a_border_at_each_record_has_one_reading() {
    let mut whole = 0;
    for make in [random, layered] {
        count(0..250, make, PLAN, |program, run, found| {
            let totals = replay(program, &run.segments(), Limits::default(), |_| {});
            if is_whole(run) {
                whole += u64::from(run.segments.len() > 2);
                assert_eq!(found, 1);
                assert_eq!(totals.expect("a path").places, 1);
            }
            false
        });
    }
    assert!(whole > 80, "{whole}");
}

#[test]
fn whole_runs_would_have_two_readings_if_path_bits_began_anew_at_borders() {
    let plan = Plan {
        resets: true,
        ..PLAN
    };
    let mut collides = false;
    count(0..1000, random, plan, |_, run, found| {
        collides = is_whole(run) && found > 1;
        collides
    });
    assert!(collides, "the control finds nothing");
}

#[test]
fn the_places_at_which_a_stopped_run_may_have_ended_are_counted() {
    let (mut several, mut judged) = (0, 0);
    for fuel in [15, 40, 80, 120] {
        let plan = Plan { fuel, ..PLAN };
        count(0..250, layered, plan, |program, run, found| {
            let totals = replay(program, &run.segments(), Limits::default(), |_| {});
            let places = totals.expect("a path").places;
            let pc = run.segments.last().map_or(0, |it| it.1.pc);
            // Rounds of a loop that was not left are one place.
            if !program.is_in_loop(pc) {
                assert_eq!(places, found, "{pc:x}");
                judged += 1;
                several += u64::from(found > 1);
            }
            false
        });
    }
    println!("{judged} runs, {several} with more than one place");
    assert!(several > 5, "{several} of {judged}");
}
