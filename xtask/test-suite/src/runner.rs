// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running tests and saying how they went.

mod busy;
mod logs;
mod not_checked;
pub mod repeat;
mod verdict;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Error, anyhow};
use donjon_machine::finding::Finding;

use crate::test::Test;

use verdict::Verdict;

/// From where a thread takes its next test. There are two threads: a guest with one busy CPU takes
/// about one of the host's. They begin at both ends, because tests of one kind stand together, and
/// those that build a weakened inner domain wait for each other.
#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// Most failures that are looked at twice. Where there are more, chance is not the reason, and the
/// run has failed whatever a repetition shows.
const MOST_AGAIN: usize = 10;

pub use not_checked::{as_failure, is_not_checked, not_checked};

/// Why a test did not pass.
struct Failure {
    text: String,
    /// What it found that no repetition takes back.
    finding: Option<Finding>,
    /// Whether it says that something could not be looked at.
    is_not_checked: bool,
}

impl Failure {
    fn of(error: &Error) -> Self {
        Self {
            text: format!("{error:#}"),
            finding: Finding::of(error),
            is_not_checked: is_not_checked(error),
        }
    }

    /// The reason in one line.
    fn reason(&self) -> &str {
        self.text.lines().next().unwrap_or_default().trim()
    }
}

/// A test that was run.
struct Ran<'a> {
    test: &'a Test,
    seconds: f32,
    failure: Option<Failure>,
    /// What it printed on consoles, and why it failed.
    log: Option<PathBuf>,
}

impl Ran<'_> {
    /// Whether the test could not look at something.
    fn is_not_checked(&self) -> bool {
        self.failure.as_ref().is_some_and(|it| it.is_not_checked)
    }

    /// Whether it is to be run once more.
    fn may_be_chance(&self) -> bool {
        let failure = self.failure.as_ref();
        failure.is_some_and(|it| it.finding.is_none() && !self.test.on_host)
    }
}

/// Runs the tests, first those of the host that want to be alone, last those with a guest that do:
/// what guests need is compiled while Miri runs beside. Then those run once more that may have
/// failed by chance. True if all passed, a few of them the second time.
pub fn run(tests: &[Test]) -> bool {
    let verdict = verdict(tests, &logs::folder());
    print!("{verdict}");
    verdict.is_good()
}

fn verdict<'a>(tests: &'a [Test], logs: &Path) -> Verdict<'a> {
    let start = Instant::now();
    let ran = Mutex::new(Vec::new());
    let first = |test: &'a Test| {
        let first = once(test, logs, 1);
        say_first(&first);
        ran.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(first);
    };
    let alone = |on_host| {
        tests
            .iter()
            .filter(move |it| !it.parallel && it.on_host == on_host)
    };
    alone(true).for_each(first);
    let parallel = Mutex::new(tests.iter().filter(|it| it.parallel).collect());
    thread::scope(|scope| {
        for end in [End::First, End::Last] {
            let (parallel, first) = (&parallel, &first);
            scope.spawn(move || {
                while let Some(test) = take(parallel, end) {
                    first(test);
                }
            });
        }
    });
    alone(false).for_each(first);
    let first = ran.into_inner().unwrap_or_else(PoisonError::into_inner);
    let doubtful: Vec<&Test> = first
        .iter()
        .filter(|it| it.may_be_chance())
        .map(|it| it.test)
        .collect();
    let mut second = Vec::new();
    if doubtful.len() <= MOST_AGAIN {
        for test in doubtful {
            let ran = once(test, logs, 2);
            say(&ran, "");
            second.push(ran);
        }
    }
    Verdict {
        first,
        second,
        seconds: start.elapsed().as_secs(),
    }
}

/// The next test at this end.
fn take<'a>(tests: &Mutex<VecDeque<&'a Test>>, end: End) -> Option<&'a Test> {
    let mut tests = tests.lock().unwrap_or_else(PoisonError::into_inner);
    match end {
        End::First => tests.pop_front(),
        End::Last => tests.pop_back(),
    }
}

/// Runs a test, and keeps what there is to read of a failure and of a repetition.
fn once<'a>(test: &'a Test, logs: &Path, number: u32) -> Ran<'a> {
    let start = Instant::now();
    logs::begin();
    let result = catch_unwind(AssertUnwindSafe(|| (test.body)()))
        .unwrap_or_else(|_| Err(anyhow!("it panicked; the message stands above")));
    let seconds = start.elapsed().as_secs_f32();
    let failure = result.as_ref().err().map(Failure::of);
    let text = failure.as_ref().map_or("it passed", |it| &it.text);
    let has_failed = failure.as_ref().is_some_and(|it| !it.is_not_checked);
    let is_of_interest = has_failed || number > 1;
    let log = is_of_interest.then(|| logs::keep(logs, &test.name, number, text));
    Ran {
        test,
        seconds,
        failure,
        log: log.flatten(),
    }
}

/// Says how the first run of a test went. One that may have failed by chance has not failed yet.
fn say_first(ran: &Ran<'_>) {
    if !ran.may_be_chance() {
        return say(ran, "");
    }
    println!("AGAIN  {} ({:.1} s)", ran.test.name, ran.seconds);
    say_why(ran);
    println!("       It runs once more at the end, alone.");
}

/// Says how a test went.
fn say(ran: &Ran<'_>, of: &str) {
    let word = match &ran.failure {
        None => "ok    ",
        Some(failure) if failure.is_not_checked => "NOT   ",
        Some(_) => "FAILED",
    };
    println!("{word} {} ({:.1} s){of}", ran.test.name, ran.seconds);
    say_why(ran);
}

fn say_why(ran: &Ran<'_>) {
    let Some(failure) = &ran.failure else {
        return;
    };
    for line in failure.text.lines() {
        println!("       {line}");
    }
    if let Some(log) = &ran.log {
        println!("       log: {}", log.display());
    }
}

#[cfg(test)]
mod tests;
