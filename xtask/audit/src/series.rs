// SPDX-License-Identifier: MIT OR Apache-2.0
//! Audits of a guest while it runs.

use anyhow::{Result, ensure};
use donjon_machine::qemu::Live;

use super::{Report, Sizes, Subject, expect_clean, live};

/// Audits of one guest, each compared with the one before it.
pub struct Series<'a> {
    subject: &'a Subject,
    sizes: Option<Sizes>,
    reports: Vec<Result<Report>>,
}

impl<'a> Series<'a> {
    /// None so far.
    pub fn of(subject: &'a Subject) -> Self {
        Self {
            subject,
            sizes: None,
            reports: Vec::new(),
        }
    }

    /// Audits the guest now if `said` has a line `look`. An error is kept until
    /// [`judge`](Self::judge).
    pub fn look_if_asked(&mut self, guest: &Live<'_>, said: &[u8]) {
        let said = String::from_utf8_lossy(said);
        if !said.lines().any(|it| it.trim_end() == "look") {
            return;
        }
        let report = live(self.subject, guest, self.sizes.as_ref());
        self.reports.push(report.map(|(report, now)| {
            self.sizes = Some(now);
            report
        }));
    }

    /// What they found, in order, where nothing may be wrong and the guest's command, which ended
    /// with `end`, had to succeed. `said` is what the guest printed.
    ///
    /// # Errors
    ///
    /// A [`Finding::Violation`](donjon_machine::finding::Finding::Violation) if any of them found
    /// something, whatever else failed. Otherwise the error of `end`, a status other than 0, or the
    /// first audit that failed.
    pub fn judge(self, end: Result<u8>, said: &str) -> Result<Vec<Report>> {
        judged(self.reports, end, said)
    }
}

fn judged(reports: Vec<Result<Report>>, end: Result<u8>, said: &str) -> Result<Vec<Report>> {
    for report in reports.iter().flatten() {
        expect_clean(report)?;
    }
    let status = end?;
    ensure!(
        status == 0,
        "the guest's command failed ({status}):\n{said}"
    );
    reports.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use anyhow::{Error, anyhow};
    use donjon_auditor::Violation;
    use donjon_machine::finding::Finding;

    use super::*;

    fn violated() -> Report {
        let violation = Violation::plain("I3", "Linux", "it is writable".into());
        Report {
            violations: vec![violation],
            ..Report::default()
        }
    }

    fn error(reports: Vec<Result<Report>>, end: Result<u8>) -> Error {
        judged(reports, end, "the text").expect_err("an error")
    }

    #[test]
    fn a_violation_is_found_whatever_fails_beside_it() {
        for end in [Ok(0), Ok(1), Err(anyhow!("no status"))] {
            let reports = vec![
                Err(anyhow!("no registers")),
                Ok(Report::default()),
                Ok(violated()),
                Err(anyhow!("no memory")),
            ];
            let error = error(reports, end);
            assert_eq!(Finding::of(&error), Some(Finding::Violation));
            assert!(error.to_string().contains("it is writable"));
        }
    }

    #[test]
    fn without_a_violation_the_end_comes_before_audits_that_failed() {
        let reports = || vec![Ok(Report::default()), Err(anyhow!("no registers"))];
        let of_end = error(reports(), Err(anyhow!("no status")));
        assert_eq!(of_end.to_string(), "no status");
        let of_status = error(reports(), Ok(3));
        assert_eq!(
            of_status.to_string(),
            "the guest's command failed (3):\nthe text"
        );
        let of_audit = error(reports(), Ok(0));
        assert_eq!(of_audit.to_string(), "no registers");
        assert!(
            [of_end, of_status, of_audit]
                .iter()
                .all(|it| Finding::of(it).is_none())
        );
        let clean = judged(vec![Ok(Report::default())], Ok(0), "");
        assert_eq!(clean.expect("no error").len(), 1);
    }
}
