// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running tests and saying how they went.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow};

/// From where a thread takes its next test. There are two threads: a guest with one busy CPU takes
/// about one of the host's. They begin at both ends, because tests of one kind stand together, and
/// those that build a weakened inner domain wait for each other.
#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// One test.
pub struct Test {
    /// Its name; parts are separated by colons.
    pub name: String,
    /// Whether it may run beside others like it.
    pub parallel: bool,
    /// What it does.
    pub body: Box<dyn Fn() -> Result<()> + Send + Sync>,
}

impl Test {
    /// A test that wants the host for itself.
    pub fn alone(name: &str, body: impl Fn() -> Result<()> + Send + Sync + 'static) -> Self {
        Self {
            name: name.to_owned(),
            parallel: false,
            body: Box::new(body),
        }
    }

    /// A test that may run beside others.
    pub fn beside(name: &str, body: impl Fn() -> Result<()> + Send + Sync + 'static) -> Self {
        Self {
            name: name.to_owned(),
            parallel: true,
            body: Box::new(body),
        }
    }
}

#[derive(Default)]
struct Counters {
    passed: usize,
    failures: Vec<String>,
}

/// Runs the tests, those that want to be alone first. True if all passed.
pub fn run(tests: &[Test]) -> bool {
    let start = Instant::now();
    let counters = Mutex::new(Counters::default());
    for test in tests.iter().filter(|it| !it.parallel) {
        one(test, &counters);
    }
    let parallel = Mutex::new(tests.iter().filter(|it| it.parallel).collect());
    thread::scope(|scope| {
        for end in [End::First, End::Last] {
            let (parallel, counters) = (&parallel, &counters);
            scope.spawn(move || {
                while let Some(test) = take(parallel, end) {
                    one(test, counters);
                }
            });
        }
    });
    let counters = counters
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    println!();
    for name in &counters.failures {
        println!("failed: {name}");
    }
    println!("in {} s", start.elapsed().as_secs());
    println!(
        "{} passed, {} failed",
        counters.passed,
        counters.failures.len()
    );
    counters.failures.is_empty()
}

/// The next test at this end.
fn take<'a>(tests: &Mutex<VecDeque<&'a Test>>, end: End) -> Option<&'a Test> {
    let mut tests = tests.lock().unwrap_or_else(PoisonError::into_inner);
    match end {
        End::First => tests.pop_front(),
        End::Last => tests.pop_back(),
    }
}

fn one(test: &Test, counters: &Mutex<Counters>) {
    let start = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| (test.body)()))
        .unwrap_or_else(|_| Err(anyhow!("it panicked; the message stands above")));
    let seconds = start.elapsed().as_secs_f32();
    let mut counters = counters.lock().unwrap_or_else(PoisonError::into_inner);
    match result {
        Ok(()) => {
            println!("ok     {} ({seconds:.1} s)", test.name);
            counters.passed += 1;
        }
        Err(error) => {
            println!("FAILED {} ({seconds:.1} s)", test.name);
            for line in format!("{error:#}").lines() {
                println!("       {line}");
            }
            counters.failures.push(test.name.clone());
        }
    }
}
