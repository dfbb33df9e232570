// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runner with tests that are made up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::bail;
use donjon_machine::finding::Finding;
use tempfile::TempDir;

use super::*;

/// How often a test was run.
type Runs = Arc<AtomicU32>;

/// A guest test that fails by `error` the first `times` times.
fn failing(
    name: &str,
    times: u32,
    error: impl Fn() -> Error + Send + Sync + 'static,
) -> (Test, Runs) {
    let runs = Runs::default();
    let counter = Arc::clone(&runs);
    let test = Test::beside(name, move || {
        if counter.fetch_add(1, Ordering::Relaxed) < times {
            return Err(error());
        }
        Ok(())
    });
    (test, runs)
}

fn late() -> Error {
    anyhow!("no status within 120 s\nend of its console:\n  booting")
}

/// What is said at the end, its last line, and whether it is good.
fn judged(tests: &[Test]) -> (String, String, bool) {
    let logs = TempDir::new().expect("a folder");
    let verdict = verdict(tests, logs.path());
    let text = verdict.to_string();
    let last = text.lines().last().unwrap_or_default().to_owned();
    (text, last, verdict.is_good())
}

fn count(runs: &Runs) -> u32 {
    runs.load(Ordering::Relaxed)
}

#[test]
fn a_guest_that_fails_once_is_flaky_and_counts_as_passed() {
    let logs = TempDir::new().expect("a folder");
    let (flaky, runs) = failing("boot:slow", 1, late);
    let tests = [Test::alone("fmt", || Ok(())).on_host(), flaky];
    let verdict = verdict(&tests, logs.path());
    assert!(verdict.is_good());
    assert_eq!(count(&runs), 2);
    let text = verdict.to_string();
    let lines: Vec<&str> = text.lines().collect();
    let [.., flaky, closing] = &lines[..] else {
        panic!("{text}");
    };
    assert_eq!(*flaky, "FLAKY boot:slow: no status within 120 s");
    assert_eq!(*closing, "2 passed, 0 failed");
    let log = |number| std::fs::read_to_string(logs.path().join(format!("boot.slow-{number}.log")));
    assert!(log(1).expect("a log").contains("no status within 120 s"));
    assert!(log(2).expect("a log").contains("it passed"));
}

#[test]
fn a_guest_that_fails_twice_has_failed() {
    let (test, runs) = failing("boot:broken", 2, late);
    let (text, last, is_good) = judged(&[test]);
    assert!(!is_good && !text.contains("FLAKY"), "{text}");
    assert!(text.contains("failed: boot:broken\n"), "{text}");
    assert_eq!((count(&runs), last.as_str()), (2, "0 passed, 1 failed"));
}

#[test]
fn what_was_found_is_not_taken_back() {
    let findings: [fn() -> Error; 6] = [
        || Finding::Attack.error("it went through"),
        || Finding::Escape.error("it ran"),
        || Finding::Violation.error("I3"),
        || Finding::Panic.error("it stopped"),
        || Finding::Figures.error("61, not 59"),
        || anyhow!("the guest panicked: donjon: PANIC on CPU 0x0").context("a boot"),
    ];
    for error in findings {
        let (test, runs) = failing("guest", 1, error);
        let (text, last, is_good) = judged(&[test]);
        assert!(!is_good && !text.contains("FLAKY"), "{text}");
        assert_eq!((count(&runs), last.as_str()), (1, "0 passed, 1 failed"));
    }
}

#[test]
fn what_needs_no_guest_is_not_run_again() {
    let (test, runs) = failing("host-tests", 1, late);
    let (_, last, is_good) = judged(&[test.on_host()]);
    assert!(!is_good);
    assert_eq!((count(&runs), last.as_str()), (1, "0 passed, 1 failed"));
}

#[test]
fn three_may_be_flaky_and_no_more() {
    for (number, expected) in [(3, true), (4, false)] {
        let tests: Vec<Test> = (0..number)
            .map(|it| failing(&format!("guest:{it}"), 1, late).0)
            .collect();
        let (text, last, is_good) = judged(&tests);
        assert_eq!(is_good, expected, "{text}");
        assert_eq!(text.matches("FLAKY guest:").count(), number);
        assert_eq!(last, format!("{number} passed, 0 failed"));
        assert_eq!(text.contains("4 tests are flaky"), !expected, "{text}");
    }
}

#[test]
fn a_flaky_test_does_not_hide_one_that_failed() {
    let (flaky, _) = failing("one", 1, late);
    let (broken, _) = failing("other", 9, late);
    let (text, last, is_good) = judged(&[flaky, broken]);
    assert!(!is_good && text.contains("FLAKY one: "), "{text}");
    assert_eq!(last, "1 passed, 1 failed");
}

#[test]
fn where_nearly_everything_fails_nothing_is_run_again() {
    let tests: Vec<(Test, Runs)> = (0..=MOST_AGAIN)
        .map(|it| failing(&format!("guest:{it}"), 1, late))
        .collect();
    let (tests, runs): (Vec<_>, Vec<_>) = tests.into_iter().unzip();
    let (_, last, is_good) = judged(&tests);
    assert!(!is_good && runs.iter().all(|it| count(it) == 1));
    assert_eq!(last, format!("0 passed, {} failed", tests.len()));
}

#[test]
fn a_repetition_is_alone_and_at_the_end() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let named = |name: &'static str, fails: bool| {
        let order = Arc::clone(&order);
        let is_first = AtomicU32::new(0);
        Test::alone(name, move || {
            order.lock().expect("order").push(name);
            if fails && is_first.fetch_add(1, Ordering::Relaxed) == 0 {
                bail!("by chance");
            }
            Ok(())
        })
    };
    let tests = [named("a", true), named("b", false)];
    assert!(judged(&tests).2);
    assert_eq!(*order.lock().expect("order"), ["a", "b", "a"]);
}

#[test]
fn a_panic_of_a_test_is_a_failure() {
    let test = Test::alone("fmt", || panic!("no")).on_host();
    let (_, last, is_good) = judged(&[test]);
    assert!(!is_good);
    assert_eq!(last, "0 passed, 1 failed");
}

#[test]
fn the_longest_are_named_longest_first() {
    let tests: Vec<Test> = (0..12)
        .map(|it| Test::alone(&format!("t{it}"), || Ok(())))
        .collect();
    let first = (0_u8..).zip(&tests).map(|(number, test)| Ran {
        test,
        seconds: f32::from(number),
        failure: None,
        log: None,
    });
    let verdict = Verdict {
        first: first.collect(),
        second: Vec::new(),
        seconds: 66,
    };
    let text = verdict.to_string();
    let named: Vec<&str> = text
        .lines()
        .filter_map(|it| Some(it.split_once(" s  ")?.1))
        .collect();
    let expected: Vec<String> = (2..12).rev().map(|it| format!("t{it}")).collect();
    assert_eq!(named, expected);
    assert!(text.ends_with("in 66 s\n12 passed, 0 failed\n"), "{text}");
}

#[test]
fn what_could_not_be_looked_at_is_neither_passed_nor_failed() {
    let absent = || {
        Test::alone("deny:advisories", || {
            Err(not_checked("advisories: no network"))
        })
        .on_host()
    };
    let (text, last, is_good) = judged(&[absent(), Test::alone("fmt", || Ok(()))]);
    assert!(is_good);
    assert_eq!(last, "1 passed, 0 failed");
    assert!(
        text.contains("\nadvisories: not checked: no network\n"),
        "{text}"
    );
    let (text, last, is_good) = judged(&[absent().strictly()]);
    assert!(
        !is_good && text.contains("failed: deny:advisories"),
        "{text}"
    );
    assert_eq!(last, "0 passed, 1 failed");
}
