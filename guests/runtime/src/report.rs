// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports about compartments.

use donjon_abi::call::Supervisor;

use crate::request::{bytes, wide};

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
    let mut x = [0; 17];
    x[..8].copy_from_slice(&words::<8>(data));
    // SAFETY: the request touches no memory.
    unsafe { wide::<{ Supervisor::Report as u64 }>(&mut x) };
    (x[0] == 1).then(|| Report {
        code: bytes([x[1], x[2], x[3], x[4]]),
        measurement: bytes([x[5], x[6], x[7], x[8]]),
        limit: x[9],
        data: *data,
        started: bytes([x[10], x[11], x[12], x[13]]),
        version: x[14],
        weakened: x[15],
        identity: x[16],
    })
}

/// Whether a report was made in this boot, and says of the boot what is so.
pub fn verify(report: &Report) -> bool {
    let mut x = [0; 17];
    x[..4].copy_from_slice(&words::<4>(&report.code));
    x[4..8].copy_from_slice(&words::<4>(&report.measurement));
    x[8] = report.limit;
    x[9..].copy_from_slice(&words::<8>(&report.data));
    // SAFETY: the request touches no memory.
    unsafe { wide::<{ Supervisor::Verify as u64 }>(&mut x) };
    x[0] == 1
        && x[10..14] == words::<4>(&report.started)
        && x[14..] == [report.version, report.weakened, report.identity]
}

/// Words of bytes, as registers have them.
fn words<const COUNT: usize>(bytes: &[u8]) -> [u64; COUNT] {
    let mut words = [0; COUNT];
    let (chunks, _) = bytes.as_chunks::<8>();
    for (word, chunk) in words.iter_mut().zip(chunks) {
        *word = u64::from_be_bytes(*chunk);
    }
    words
}
