// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows of the record.

use donjon_figures::records::kselftests::{Outcome, Program};

use super::result::SelftestResult;

/// Makes the row of a program's results.
pub fn row(name: &str, native: &SelftestResult, protected: &SelftestResult) -> Program {
    Program {
        name: name.to_owned(),
        native: outcome(native),
        protected: outcome(protected),
        worse: protected.worse_than(native),
    }
}

fn outcome(result: &SelftestResult) -> Outcome {
    let total = result.total();
    Outcome {
        status: result.status,
        passed: total.passed,
        failed: total.failed,
        skipped: total.skipped,
    }
}

#[cfg(test)]
mod tests {
    use donjon_figures::records::kselftests::Kselftests;

    use super::*;
    use crate::result::parse;

    #[test]
    fn what_is_worse_is_named_in_the_record() {
        let text = |line: &str| format!("#### begin mm/cow\n{line}\n#### end 0\n");
        let of = |line: &str| parse(&text(line)).remove("mm/cow").expect("the program");
        let row = row("mm/cow", &of("ok 1 a"), &of("not ok 1 a"));
        let passed = Outcome {
            status: Some(0),
            passed: 1,
            ..Outcome::default()
        };
        assert_eq!(row.native, passed);
        let record = Kselftests {
            programs: vec![row],
            ..Kselftests::default()
        };
        assert_eq!(record.worse(), ["mm/cow: failed: N a"]);
    }
}
