// SPDX-License-Identifier: MIT OR Apache-2.0
//! Logs whose segments are loaded while they are replayed.

use std::rc::{Rc, Weak};

use super::compare::{events, input};
use super::generator::random;
use super::interpreter::{Machine, Plan, Run};
use crate::program::Program;
use crate::replay::{End, Ending, Failure, Fault, Limits, Segments, replay_loaded};

/// Segments that count how many of them are in memory at one time.
struct Counted<'a> {
    run: &'a Run,
    loaded: Vec<Weak<[u64]>>,
    most: usize,
    times: usize,
    /// Number of a segment that has one word less than was said.
    short: Option<usize>,
    /// Number of a segment that cannot be read.
    lost: Option<usize>,
}

impl<'a> Counted<'a> {
    fn new(run: &'a Run) -> Self {
        Self {
            run,
            loaded: Vec::new(),
            most: 0,
            times: 0,
            short: None,
            lost: None,
        }
    }
}

impl Segments for Counted<'_> {
    fn count(&self) -> usize {
        self.run.segments.len()
    }

    fn words(&self, number: usize) -> usize {
        self.run.segments[number].0.len()
    }

    fn end(&self, number: usize) -> End {
        self.run.segments[number].1
    }

    fn load(&mut self, number: usize) -> Option<Rc<[u64]>> {
        let words = &self.run.segments[number].0;
        let end = words.len() - usize::from(self.short == Some(number));
        let words: Rc<[u64]> = words[..end].into();
        self.loaded.push(Rc::downgrade(&words));
        self.loaded.retain(|it| it.strong_count() > 0);
        self.most = self.most.max(self.loaded.len());
        self.times += 1;
        Some(words).filter(|_| self.lost != Some(number))
    }
}

fn run(seed: u64) -> (Program, Run) {
    let (text, labels) = random(seed).assemble();
    let program = Program::check(input(&text, &labels)).expect("lawful");
    let plan = Plan {
        fuel: 6000,
        words: 3,
        resets: false,
        taken: 500,
    };
    (program, Machine::new(&text, seed, plan).run())
}

fn replay(program: &Program, segments: &mut Counted<'_>) -> Result<usize, Failure> {
    let mut count = 0;
    replay_loaded(program, segments, Limits::default(), &mut |_| count += 1)?;
    Ok(count)
}

#[test]
fn two_segments_at_most_are_in_memory_and_the_path_is_the_same() {
    let (mut many, mut twice) = (0, 0);
    for seed in 0..200 {
        let (program, run) = run(seed);
        let mut segments = Counted::new(&run);
        let count = replay(&program, &mut segments).expect("a path");
        assert_eq!(count, events(&program, &run).expect("a path").len());
        assert!(segments.most <= 2, "{} in memory", segments.most);
        // Where a run was stopped, each place at which it may have ended reads its last words; a
        // whole run has few such places.
        let last = run.segments.last().expect("a segment");
        let is_stopped = last.1.how == Ending::Stopped;
        let times = segments.times;
        let count = run.segments.len();
        assert!(is_stopped || times <= 2 * count + 8, "{times} of {count}");
        many += usize::from(run.segments.len() > 20);
        twice += usize::from(segments.times > run.segments.len());
    }
    assert!(
        many > 20 && twice > 5,
        "{many} long logs, {twice} read twice"
    );
}

#[test]
fn a_segment_that_cannot_be_loaded_ends_the_replay() {
    let found = (0..200).map(run).find(|it| it.1.segments.len() > 20);
    let (program, run) = found.expect("a long log");
    for number in (0..run.segments.len()).filter(|&it| !run.segments[it].0.is_empty()) {
        for short in [false, true] {
            let mut segments = Counted::new(&run);
            let place = if short {
                &mut segments.short
            } else {
                &mut segments.lost
            };
            *place = Some(number);
            let failure = replay(&program, &mut segments).expect_err("a lost segment");
            assert_eq!(failure.fault, Fault::Unreadable);
        }
    }
}
