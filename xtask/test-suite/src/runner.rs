// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running tests and saying how they went.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow};

/// Boots at a time. A guest with one busy CPU takes about one of the host's.
const PARALLEL: usize = 2;

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
    let parallel: Vec<&Test> = tests.iter().filter(|it| it.parallel).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| {
                while let Some(test) = parallel.get(next.fetch_add(1, Ordering::Relaxed)) {
                    one(test, &counters);
                }
            });
        }
    });
    let counters = counters
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
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

fn one(test: &Test, counters: &Mutex<Counters>) {
    let start = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| (test.body)()))
        .unwrap_or_else(|_| Err(anyhow!("it panicked; the message stands above")));
    let seconds = start.elapsed().as_secs_f32();
    let mut counters = counters
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
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
