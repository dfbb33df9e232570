// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports about compartments.

use donjon_abi::call::{ReportArguments, VerifyArguments, requests};

use crate::request::ask;

/// What the inner domain says about a compartment that asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// What authenticates it, to compartments of this boot.
    pub code: [u8; 32],
    /// What the compartment began with.
    pub measurement: [u8; 32],
    /// Frames that it may have.
    pub limit: u64,
    /// What it had reported.
    pub data: [u8; 64],
    /// Digest of what was started: inner domain and Linux.
    pub started: [u8; 32],
    /// Version of the inner domain.
    pub version: u64,
    /// Bits that tell a build which leaves out a check.
    pub weakened: u64,
    /// Where the machine's identity comes from.
    pub identity: u64,
}

/// A report about this compartment, with bytes of its choice. None if this boot has no secret.
pub fn report(data: &[u8; 64]) -> Option<Report> {
    let data = *data;
    // SAFETY: the request touches no memory.
    let it = unsafe { ask::<requests::Report>(&ReportArguments { data }) };
    (it.found == 1).then_some(Report {
        code: it.code,
        measurement: it.measurement,
        limit: it.limit,
        data,
        started: it.started,
        version: it.version,
        weakened: it.weakened,
        identity: it.identity,
    })
}

/// Whether a report was made in this boot, and says of the boot what is so.
pub fn verify(report: &Report) -> bool {
    let arguments = VerifyArguments {
        code: report.code,
        measurement: report.measurement,
        limit: report.limit,
        data: report.data,
    };
    // SAFETY: the request touches no memory.
    let it = unsafe { ask::<requests::Verify>(&arguments) };
    it.found == 1
        && it.started == report.started
        && [it.version, it.weakened, it.identity]
            == [report.version, report.weakened, report.identity]
}
