// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports about compartments.

use donjon_abi::call::{ReportArguments, VerifyArguments, requests};
use donjon_abi::flow::KIND_OF_REPORT_SHIFT;

use crate::request::ask;

/// What the inner domain says about a compartment that asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// What authenticates it, to compartments of this boot.
    pub code: [u8; 32],
    /// What the compartment began with.
    pub measurement: [u8; 32],
    /// Frames that it may have, below 2^32; above that its [kind](Report::kind).
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

impl Report {
    /// What kind of report it is: 0 for one that the compartment asked for, 1 for one about a run
    /// under flow attestation, which its host asked for.
    pub const fn kind(&self) -> u64 {
        self.limit >> KIND_OF_REPORT_SHIFT
    }
}

/// Whether a report was made in this boot at the request of the compartment that it is about, and
/// says of the boot what is so.
pub fn verify(report: &Report) -> bool {
    report.kind() == 0 && verify_any_kind(report)
}

/// Whether a report of any [kind](Report::kind) was made in this boot, and says of the boot what is
/// so. A report about a run says nothing that its compartment has chosen: the host chose the nonce.
pub fn verify_any_kind(report: &Report) -> bool {
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
