// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests: what a compartment asks the inner domain for, by SVC.
//!
//! Each request is declared here once. From the declaration come the registers in the inner
//! domain and in programs in Rust, the header of programs in C
//! (`guests/runtime-c/donjon_requests.h`) and the table in `docs/compartments.md`
//! (`cargo xtask header`). A register beyond those of the reply keeps its value.

use crate::registers::{Registers, registers, requests};

/// A request, as a type: its number, and what lies in registers before and afterwards.
pub trait Request {
    /// The number of the SVC.
    const NUMBER: u64;
    /// What the program passes.
    type Arguments: Registers;
    /// What the inner domain answers.
    type Reply: Registers;
}

registers! {
    /// No argument, or no reply.
    pub struct Nothing {}

    /// A word whose meaning the program and its host agree on.
    pub struct Word {
        /// The word.
        pub word: u64,
    }

    /// How many pages to add at the end of the heap, or to take away there.
    pub struct Pages {
        /// The number of pages.
        pub pages: u64,
    }

    /// What became of the heap.
    pub struct Resized {
        /// Pages that were added or taken away.
        pub pages: u64,
        /// Pages that the heap has now.
        pub all: u64,
    }

    /// Bytes that are to move through a channel.
    pub struct Transfer {
        /// The end of a channel, 0 to 3.
        pub end: u64,
        /// Where the bytes are in the program's memory.
        pub address: u64,
        /// The number of bytes; 1024 move at most.
        pub size: u64,
    }

    /// What became of bytes that were to move.
    pub struct Transferred {
        /// Bytes that moved; -1 without such an end or memory.
        pub bytes: u64,
        /// 1 as long as the other compartment is there.
        pub is_open: u64,
    }

    /// An end of a channel.
    pub struct End {
        /// The end's number, 0 to 3.
        pub end: u64,
    }

    /// Who is at the other end of a channel.
    pub struct PeerReply {
        /// 1; 0 if the other compartment is not there any more; -1 without such an end.
        pub found: u64,
        /// The other compartment's measurement.
        pub measurement: [u8; 32],
    }

    /// Random bytes.
    pub struct RandomReply {
        /// 1; 0 if this machine has no source of random bytes.
        pub found: u64,
        /// The bytes.
        pub bytes: [u8; 32],
    }

    /// What a report is to contain.
    pub struct ReportArguments {
        /// Bytes of the program's choice.
        pub data: [u8; 64],
    }

    /// A report about the compartment that asked for it.
    pub struct ReportReply {
        /// 1; 0 if this boot has no secret.
        pub found: u64,
        /// The code that authenticates the report.
        pub code: [u8; 32],
        /// The compartment's measurement.
        pub measurement: [u8; 32],
        /// Frames that the compartment may have.
        pub limit: u64,
        /// Digest of what was started: inner domain and Linux.
        pub started: [u8; 32],
        /// Version of the inner domain.
        pub version: u64,
        /// Bits that tell a build which leaves out a check.
        pub weakened: u64,
        /// Where the machine's identity comes from.
        pub identity: u64,
    }

    /// A report that another compartment of this boot may have got.
    pub struct VerifyArguments {
        /// The code of the report.
        pub code: [u8; 32],
        /// The measurement in the report.
        pub measurement: [u8; 32],
        /// The limit in the report.
        pub limit: u64,
        /// The bytes that the other compartment chose.
        pub data: [u8; 64],
    }

    /// Whether a report was made in this boot, and what all reports of this boot say.
    pub struct VerifyReply {
        /// 1 if the report was made in this boot.
        pub found: u64,
        /// Digest of what was started: inner domain and Linux.
        pub started: [u8; 32],
        /// Version of the inner domain.
        pub version: u64,
        /// Bits that tell a build which leaves out a check.
        pub weakened: u64,
        /// Where the machine's identity comes from.
        pub identity: u64,
        /// Zeros: a program of interface 4, which looks for these facts here, accepts none.
        pub zeros: [u8; 72],
    }

    /// What a key is for.
    pub struct Purpose {
        /// A number of the program's choice: each gives another key.
        pub purpose: u64,
    }

    /// With what a run under flow attestation ends.
    pub struct Outcome {
        /// A word for the verifier: the program's result.
        pub word: u64,
        /// Bytes for the verifier: a digest of what the program wrote, or a key.
        pub data: [u8; 32],
    }

    /// A key of the compartment's.
    pub struct KeyReply {
        /// 1; 0 if this boot has no secret.
        pub found: u64,
        /// The key.
        pub key: [u8; 32],
    }
}

requests! {
    /// What a compartment asks for, by the number of its SVC.
    pub enum Supervisor in request {
        /// Ends the call with a result.
        Return = 0 { takes: Word, gives: Nothing }
        /// Asks the host, which answers with a word.
        CallOut = 1 { takes: Word, gives: Word }
        /// Adds pages of zeros at the end of the heap.
        Grow = 2 { takes: Pages, gives: Resized }
        /// Takes pages away at the end of the heap, wiped.
        Shrink = 3 { takes: Pages, gives: Resized }
        /// Ends the compartment for good, with a last word.
        Exit = 4 { takes: Word, gives: Nothing }
        /// Sends bytes by an end of a channel.
        Send = 5 { takes: Transfer, gives: Transferred }
        /// Receives bytes by an end of a channel.
        Receive = 6 { takes: Transfer, gives: Transferred }
        /// Asks which compartment is at the other end of a channel.
        Peer = 7 { takes: End, gives: PeerReply }
        /// Asks for random bytes.
        Random = 8 { takes: Nothing, gives: RandomReply }
        /// Asks for a report about this compartment.
        Report = 9 { takes: ReportArguments, gives: ReportReply }
        /// Asks whether a report was made in this boot.
        Verify = 10 { takes: VerifyArguments, gives: VerifyReply }
        /// Asks for a key that no compartment with another measurement gets.
        Key = 11 { takes: Purpose, gives: KeyReply }
        /// Ends the call of a compartment under flow attestation.
        FlowEnd = 12 { takes: Outcome, gives: Nothing }
    }
}
