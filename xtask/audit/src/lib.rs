// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask audit`, and the auditor on guests that QEMU runs.
//!
//! The auditor itself is the crate `donjon-auditor`, which knows nothing of QEMU.

pub mod arguments;
mod command;
mod series;
mod target;

use anyhow::{Context, Result};
use donjon_builder::run::Parts;
use donjon_machine::arguments::Switch;
use donjon_machine::finding::Finding;
use donjon_machine::paths;
use donjon_machine::qemu::{Live, tree};

pub use donjon_auditor::snapshot::Snapshot;
pub use donjon_auditor::{
    Report, Sizes, Violation, descriptor, is_inside, linux, memory, of, walk,
};

pub use command::run;
pub use series::Series;
use target::Guest;

/// What is known of a guest before it starts.
pub struct Subject(donjon_auditor::Subject);

impl Subject {
    /// Reads the facts of what `parts` boot. There must be an inner domain.
    pub fn of(parts: &Parts) -> Result<Self> {
        let bare = parts
            .bare
            .as_ref()
            .context("without an inner domain (--switch none) there is nothing to audit")?;
        let machine = &parts.boot.machine;
        let sources = donjon_auditor::Sources {
            device_tree: &tree::of(&parts.boot)?,
            image: &parts.boot.image,
            inner: &bare.inner,
            boot: &bare.boot,
            vmlinux: &parts.kernel.vmlinux,
            allow_list: &paths::in_root("kernel-patch/allow-list.toml"),
            strict: machine.switch == Switch::Strict,
            el2: machine.enters_at_el2(),
        };
        donjon_auditor::Subject::of(&sources).map(Self)
    }
}

/// Fails if an audit found something, in a guest in which nothing may be wrong.
///
/// # Errors
///
/// A [`Finding::Violation`], which has the report as its text.
pub fn expect_clean(report: &Report) -> Result<()> {
    if report.violations.is_empty() {
        return Ok(());
    }
    Err(Finding::Violation.error(report))
}

/// Stops a running guest, audits it, lets it go on; see [`donjon_auditor::live`].
pub fn live(subject: &Subject, live: &Live<'_>, before: Option<&Sizes>) -> Result<(Report, Sizes)> {
    donjon_auditor::live(&subject.0, &Guest(live), before)
}

/// Stops a guest, copies what an audit needs, and lets it go on.
pub fn snapshot(subject: &Subject, live: &Live<'_>) -> Result<Snapshot> {
    donjon_auditor::snapshot(&subject.0, &Guest(live))
}

/// Copies what an audit needs from a guest that the caller has stopped, and leaves it so.
pub fn of_stopped(subject: &Subject, live: &Live<'_>) -> Result<Snapshot> {
    donjon_auditor::of_stopped(&subject.0, &Guest(live))
}
