// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which files a verdict is about, by their SHA-256, and what a run said at its end.

use donjon_abi::flow::EndReason;

/// Digests of what was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The token.
    pub token: [u8; 32],
    /// The transcript, if the checks came so far. It has the digest of each segment of the log.
    pub transcript: Option<[u8; 32]>,
    /// The policy, if there is one.
    pub policy: Option<[u8; 32]>,
    /// The transcript of the golden run, if there is one and the checks came so far.
    pub golden: Option<[u8; 32]>,
}

/// What the transcript of a report says about start and end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The arguments, which the host chose.
    pub arguments: [u64; 4],
    /// How the run ended.
    pub reason: EndReason,
    /// The result of a program that ended by itself.
    pub word: u64,
    /// The 32 bytes beside the result.
    pub data: [u8; 32],
}
