// SPDX-License-Identifier: MIT OR Apache-2.0
//! The JSON file.

use serde::Serialize;

use super::result::SelftestResult;

/// Both columns.
#[derive(Debug, Serialize)]
pub struct Report {
    /// How the inner domain was entered.
    pub mode: &'static str,
    /// Model of the CPU.
    pub cpu: String,
    /// Number of CPUs.
    pub cpus: u32,
    /// Release of Linux.
    pub linux: String,
    /// Rows.
    pub programs: Vec<Row>,
}

/// A program.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Name of the program.
    pub name: String,
    /// Over the native kernel.
    pub native: Outcome,
    /// Over the inner domain.
    pub protected: Outcome,
    /// What is worse there.
    pub worse: Vec<String>,
}

/// How a program ended.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// Exit status; nothing if it did not end.
    pub status: Option<u8>,
    /// Checks that passed.
    pub passed: u32,
    /// Checks that failed.
    pub failed: u32,
    /// Checks that were skipped.
    pub skipped: u32,
}

impl Outcome {
    fn of(result: &SelftestResult) -> Self {
        let total = result.total();
        Self {
            status: result.status,
            passed: total.passed,
            failed: total.failed,
            skipped: total.skipped,
        }
    }
}

impl Row {
    /// A row of a program's results.
    pub fn of(name: &str, native: &SelftestResult, protected: &SelftestResult) -> Self {
        Self {
            name: name.to_owned(),
            native: Outcome::of(native),
            protected: Outcome::of(protected),
            worse: protected.worse_than(native),
        }
    }
}

impl Report {
    /// Checks that are worse, with the program's name.
    pub fn worse(&self) -> Vec<String> {
        let each = |row: &Row| {
            let of = |it: &String| format!("{}: {it}", row.name);
            row.worse.iter().map(of).collect::<Vec<_>>()
        };
        self.programs.iter().flat_map(each).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::parse;

    #[test]
    fn what_is_worse_is_named_in_the_document() {
        let text = |line: &str| format!("#### begin mm/cow\n{line}\n#### end 0\n");
        let of = |line: &str| parse(&text(line)).remove("mm/cow").expect("the program");
        let report = Report {
            mode: "asid",
            cpu: "cortex-a57".into(),
            cpus: 4,
            linux: "6.12".into(),
            programs: vec![Row::of("mm/cow", &of("ok 1 a"), &of("not ok 1 a"))],
        };
        assert_eq!(report.worse(), ["mm/cow: failed: N a"]);
        let json = serde_json::to_string(&report.programs[0].native).expect("text");
        assert_eq!(json, r#"{"status":0,"passed":1,"failed":0,"skipped":0}"#);
    }
}
