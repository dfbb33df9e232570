// SPDX-License-Identifier: MIT OR Apache-2.0
//! Audits of a guest while it runs.

use anyhow::Result;
use donjon_machine::qemu::Live;

use super::{Report, Sizes, Subject, live};

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
    /// [`reports`](Self::reports).
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

    /// How many audits there were.
    pub fn count(&self) -> usize {
        self.reports.len()
    }

    /// What they found, in order; the first error if there was one.
    pub fn reports(self) -> Result<Vec<Report>> {
        self.reports.into_iter().collect()
    }
}
