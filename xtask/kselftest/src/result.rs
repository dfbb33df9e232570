// SPDX-License-Identifier: MIT OR Apache-2.0
//! What programs said, in the kernel's dialect of the Test Anything Protocol, and what is worse
//! than it was.

use std::collections::BTreeMap;

/// Line before the output of a program, with its name.
pub const BEGIN: &str = "#### begin ";
/// Line behind it, with its status.
pub const END: &str = "#### end ";
/// Exit status of a program that could not try anything.
const SKIPPED: u8 = 4;

/// How often something passed, failed and was skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Passed.
    pub passed: u32,
    /// Failed.
    pub failed: u32,
    /// Skipped.
    pub skipped: u32,
}

impl Counters {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    fn all(self) -> u32 {
        self.tried() + self.skipped
    }

    fn tried(self) -> u32 {
        self.passed + self.failed
    }
}

/// What one program said: its checks by description, and its status.
#[derive(Clone, Debug, Default)]
pub struct SelftestResult {
    checks: BTreeMap<String, Counters>,
    /// Exit status of the program; nothing if it did not end.
    pub status: Option<u8>,
}

impl SelftestResult {
    /// All checks together.
    pub fn total(&self) -> Counters {
        let mut total = Counters::default();
        self.checks.values().for_each(|it| total.add(*it));
        total
    }

    /// One cell of the table.
    pub fn cell(&self) -> String {
        let Counters {
            passed,
            failed,
            skipped,
        } = self.total();
        let status = match self.status {
            Some(0) => "pass".to_owned(),
            Some(SKIPPED) => "skip".to_owned(),
            Some(status) => format!("status {status}"),
            None => "no end".to_owned(),
        };
        format!("{status} {passed}/{failed}/{skipped}")
    }

    /// What is worse here than in `native`: new failures, new skips, checks that are missing. A
    /// check that is skipped natively may be missing: some make one for each size of huge pages.
    pub fn worse_than(&self, native: &Self) -> Vec<String> {
        let mut worse = Vec::new();
        let rank = |status: Option<u8>| match status {
            Some(0) => 0,
            Some(SKIPPED) => 1,
            _ => 2,
        };
        if rank(self.status) > rank(native.status) {
            worse.push(format!("status {:?}, not {:?}", self.status, native.status));
        }
        let none = Counters::default();
        for name in self.checks.keys().chain(native.checks.keys()) {
            let ours = self.checks.get(name).unwrap_or(&none);
            let theirs = native.checks.get(name).unwrap_or(&none);
            let what = if ours.failed > theirs.failed {
                "failed"
            } else if ours.skipped > theirs.skipped {
                "skipped"
            } else if ours.tried() < theirs.tried() {
                "missing"
            } else {
                continue;
            };
            worse.push(format!("{what}: {name}"));
        }
        worse.sort();
        worse.dedup();
        worse
    }
}

/// The results of all programs in the output of a guest.
pub fn parse(text: &str) -> BTreeMap<String, SelftestResult> {
    let mut all = BTreeMap::new();
    let mut current: Option<(String, SelftestResult)> = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix(BEGIN) {
            all.extend(current.replace((name.to_owned(), SelftestResult::default())));
        } else if let (Some(status), Some((_, program))) = (line.strip_prefix(END), &mut current) {
            program.status = status.parse().ok();
            all.extend(current.take());
        } else if let (Some((name, counters)), Some((_, program))) = (check(line), &mut current) {
            program.checks.entry(name).or_default().add(counters);
        }
    }
    all.extend(current);
    all
}

/// The description and the result in a line of a check.
fn check(line: &str) -> Option<(String, Counters)> {
    // A nested plan is indented with a mark of a comment.
    let line = line.trim_start_matches(['#', ' ']);
    if let Some((name, result)) = line
        .strip_prefix("Testing ")
        .and_then(|it| it.rsplit_once("... "))
    {
        return userfault_check(name, result);
    }
    let (rest, failed) = match line.strip_prefix("not ok ") {
        Some(rest) => (rest, true),
        None => (line.strip_prefix("ok ")?, false),
    };
    let skipped = rest.contains("# SKIP");
    let counters = Counters {
        passed: u32::from(!skipped && !failed),
        failed: u32::from(!skipped && failed),
        skipped: u32::from(skipped),
    };
    let rest = rest.split("# SKIP").next().unwrap_or(rest);
    Some((without_numbers(rest), counters))
}

/// The check that a line of mm/uffd-unit-tests reports, which has a dialect of its own.
fn userfault_check(name: &str, result: &str) -> Option<(String, Counters)> {
    let counters = Counters {
        passed: u32::from(result == "done"),
        failed: u32::from(result.starts_with("failed")),
        skipped: u32::from(result.starts_with("skipped")),
    };
    (counters.all() == 1).then(|| (name.to_owned(), counters))
}

/// Numbers of checks, addresses and times differ from run to run.
fn without_numbers(text: &str) -> String {
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        let hexadecimal = word.contains("0x");
        let mut plain = String::new();
        for letter in word.chars() {
            let number = letter.is_ascii_digit() || (hexadecimal && letter.is_ascii_hexdigit());
            match (number, plain.ends_with('N')) {
                (true, true) => (),
                (true, false) => plain.push('N'),
                (false, _) => plain.push(letter),
            }
        }
        words.push(plain);
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NATIVE: &str = "#### begin mm/cow\nTAP version 13\n1..3\nok 1 a at 0x7ff12\n\
        ok 2 b # SKIP no\nnot ok 3 c\n#### end 1\n";

    fn cow(text: &str) -> SelftestResult {
        parse(text).remove("mm/cow").expect("the program")
    }

    #[test]
    fn equal_runs_differ_in_addresses_alone() {
        let native = cow(NATIVE);
        assert_eq!(native.cell(), "status 1 1/1/1");
        let again = cow(&NATIVE.replace("0x7ff12", "0x8aa"));
        assert_eq!(again.worse_than(&native), Vec::<String>::new());
    }

    #[test]
    fn new_failures_skips_gaps_and_statuses_are_worse() {
        let native = cow(NATIVE);
        let worse = |text: String| cow(&text).worse_than(&native);
        assert_eq!(
            worse(NATIVE.replace("ok 2 b # SKIP no", "not ok 2 b")).len(),
            1
        );
        assert_eq!(worse(NATIVE.replace("0x7ff12", "0x7ff12 # SKIP")).len(), 1);
        assert_eq!(worse(NATIVE.replace("not ok 3 c\n", "")).len(), 1);
        assert_eq!(worse(NATIVE.replace("ok 2 b # SKIP no\n", "")).len(), 0);
        let sound = cow(&NATIVE.replace("end 1", "end 0"));
        assert_eq!(native.worse_than(&sound).len(), 1);
        assert_eq!(sound.worse_than(&native).len(), 0);
    }

    #[test]
    fn userfault_tests_have_a_dialect() {
        let text = "#### begin mm/cow\nTesting wp-unpopulated on anon... done\n\
            Testing minor on hugetlb... skipped [reason: x]\n\
            Testing move on anon... failed [reason: y]\n#### end 1\n";
        assert_eq!(cow(text).cell(), "status 1 1/1/1");
    }

    #[test]
    fn a_program_without_an_end_has_no_status() {
        let program = cow("#### begin mm/cow\nok 1 a\n");
        assert_eq!((program.status, program.total().passed), (None, 1));
    }
}
