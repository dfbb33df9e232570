// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask test --repeat N NAME…`: how often tests fail beside a load.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use super::busy::Busy;
use super::{Failure, Test, logs, once, say};

/// Runs each test `times` times, one after the other, beside a load that ends with it. True if none
/// failed. A failure is a failure here: nothing is run again for it.
pub fn run(tests: &[Test], times: u32) -> bool {
    let load = Busy::start();
    let counted = counted(tests, times, &logs::folder());
    drop(load);
    print!("{counted}");
    counted.failed() == 0
}

/// Failures by test.
struct Counted<'a> {
    times: u32,
    tests: Vec<(&'a Test, Vec<Failure>)>,
}

fn counted<'a>(tests: &'a [Test], times: u32, logs: &Path) -> Counted<'a> {
    let mut all: Vec<_> = tests.iter().map(|it| (it, Vec::new())).collect();
    for number in 1..=times {
        for (test, failures) in &mut all {
            let ran = once(test, logs, number);
            say(&ran, &format!(", {number} of {times}"));
            failures.extend(ran.failure.filter(|it| !it.is_not_checked));
        }
    }
    Counted { times, tests: all }
}

impl Counted<'_> {
    fn failed(&self) -> usize {
        self.tests.iter().map(|it| it.1.len()).sum()
    }
}

impl Display for Counted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        for (test, failures) in &self.tests {
            let (name, failed, times) = (&test.name, failures.len(), self.times);
            writeln!(f, "{name}: {failed} of {times} failed")?;
            for failure in failures {
                let kind = match failure.finding {
                    Some(finding) => format!("{finding}: "),
                    None => String::new(),
                };
                writeln!(f, "       {kind}{}", failure.reason())?;
            }
        }
        let all = self.tests.len() * self.times as usize;
        let failed = self.failed();
        writeln!(f, "{} passed, {failed} failed", all - failed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use anyhow::ensure;

    use super::*;

    #[test]
    fn failures_are_counted_and_none_is_made_good() {
        let logs = tempfile::tempdir().expect("a folder");
        let count = AtomicU32::new(0);
        let tests = [
            Test::beside("every-third", move || {
                let number = count.fetch_add(1, Ordering::Relaxed);
                ensure!(number % 3 != 2, "the third");
                Ok(())
            }),
            Test::alone("never", || Ok(())),
        ];
        let counted = counted(&tests, 7, logs.path());
        assert_eq!(counted.failed(), 2);
        let text = counted.to_string();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "every-third: 2 of 7 failed",
                "       the third",
                "       the third",
                "never: 0 of 7 failed",
                "12 passed, 2 failed"
            ]
        );
        for number in [3, 6] {
            let log = logs.path().join(format!("every-third-{number}.log"));
            assert!(log.exists(), "no {}", log.display());
        }
    }
}
