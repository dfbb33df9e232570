// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is said at the end of a run.

use std::fmt::{self, Display, Formatter};

use super::Ran;

/// Most tests that may pass the second time alone, in a run that counts as good.
const MOST_FLAKY: usize = 3;
/// How many of the longest tests are named.
const LONGEST: usize = 10;

/// How all tests went.
pub struct Verdict<'a> {
    /// Each test once.
    pub first: Vec<Ran<'a>>,
    /// Once more those that may have failed by chance.
    pub second: Vec<Ran<'a>>,
    /// How long everything took.
    pub seconds: u64,
}

impl<'a> Verdict<'a> {
    /// Whether nothing failed but a few tests, which then passed.
    pub fn is_good(&self) -> bool {
        self.failed().count() == 0 && self.flaky().count() <= MOST_FLAKY
    }

    /// Tests that failed, and did not pass when they were run again.
    fn failed(&self) -> impl Iterator<Item = &Ran<'a>> {
        let failed = self.first.iter().filter(|it| it.failure.is_some());
        failed.filter(|it| !it.is_not_checked() && self.passed_again(it).is_none())
    }

    /// Tests that could not look at something.
    fn not_checked(&self) -> impl Iterator<Item = &Ran<'a>> {
        self.first.iter().filter(|it| it.is_not_checked())
    }

    /// Both runs of tests that failed and then passed.
    fn flaky(&self) -> impl Iterator<Item = (&Ran<'a>, &Ran<'a>)> {
        let failed = self.first.iter().filter(|it| it.failure.is_some());
        failed.filter_map(|it| Some((it, self.passed_again(it)?)))
    }

    fn passed_again(&self, first: &Ran<'_>) -> Option<&Ran<'a>> {
        let mut second = self.second.iter();
        second.find(|it| it.test.name == first.test.name && it.failure.is_none())
    }
}

impl Display for Verdict<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        for ran in self.failed() {
            writeln!(f, "failed: {}", ran.test.name)?;
        }
        let mut longest: Vec<&Ran<'_>> = self.first.iter().collect();
        longest.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        for ran in longest.iter().take(LONGEST) {
            writeln!(f, "{:>7.1} s  {}", ran.seconds, ran.test.name)?;
        }
        writeln!(f, "in {} s", self.seconds)?;
        for (one, other) in self.flaky() {
            for log in [one, other].into_iter().filter_map(|it| it.log.as_ref()) {
                writeln!(f, "log of {}: {}", one.test.name, log.display())?;
            }
        }
        let flaky = self.flaky().count();
        if flaky > MOST_FLAKY {
            writeln!(f, "{flaky} tests are flaky, more than {MOST_FLAKY}")?;
        }
        for (one, _) in self.flaky() {
            let reason = one.failure.as_ref().map_or("", |it| it.reason());
            writeln!(f, "FLAKY {}: {reason}", one.test.name)?;
        }
        for ran in self.not_checked() {
            let reason = ran.failure.as_ref().map_or("", |it| it.reason());
            let (what, why) = reason.split_once(": ").unwrap_or((&ran.test.name, reason));
            writeln!(f, "{what}: not checked: {why}")?;
        }
        let failed = self.failed().count();
        let passed = self.first.len() - failed - self.not_checked().count();
        writeln!(f, "{passed} passed, {failed} failed")
    }
}
