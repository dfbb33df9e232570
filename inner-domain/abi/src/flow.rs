// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flow attestation: the transcript of a run, which a flow report binds by its SHA-256.
//!
//! A transcript is messages of [`MESSAGE`] bytes, one behind the other: a start, segments in their
//! order, an end. A message is sixteen words, little-endian; bytes within it stand as they are. The
//! first word holds the kind from bit 56 on, and a number below it. `docs/flow-attestation.md` has
//! the table.

use crate::declare::{constants, numbers};

constants! {
    /// Bytes of a message in the transcript of a run under flow attestation.
    pub const MESSAGE: usize = 128 => "FLOW_MESSAGE";
    /// Offset of the digest in the message of a segment, where COMPARTMENT_COMMIT reads it.
    pub const DIGEST: usize = 96 => "FLOW_DIGEST";
    /// Bytes of a flow report, as COMPARTMENT_FLOW_REPORT writes it.
    pub const RECORD: usize = 192 => "FLOW_RECORD";
    /// First address of the flow log in a compartment.
    pub const LOG: u64 = 0x38_0000_0000 => "FLOW_LOG";
    /// Most pages of a flow log.
    pub const LOG_PAGES_MAX: u64 = 2048 => "FLOW_LOG_PAGES_MAX";
}

/// Words of a message.
const WORDS: usize = MESSAGE / 8;
/// Lowest bit of the kind in the first word.
const KIND_SHIFT: u32 = 56;
const START: u64 = 1;
const SEGMENT: u64 = 2;
const END: u64 = 3;

/// What kind of report a compartment's is: bits 32 to 63 of the limit's word in the report.
pub const KIND_OF_REPORT_SHIFT: u32 = 32;
/// The kind of a report that the inner domain makes about a run under flow attestation. A program
/// that asks for a report gets kind 0.
pub const FLOW_REPORT: u64 = 1;

numbers! {
    /// How a run under flow attestation ended.
    pub enum EndReason: u64 {
        /// By the request FLOW_END. The PC of the last segment is behind it.
        Finished = 1 => "the program ended it",
        /// By the request EXIT. The PC of the last segment is the request's.
        Exited = 2 => "the program gave up",
        /// By an exception. The PC of the last segment is that of the instruction that did not
        /// complete.
        Faulted = 3 => "the program made an exception",
        /// By the host. What ran behind the last segment is not in the transcript.
        Cut = 4 => "the host ended it",
        /// By what a program that passed the check does not do: RETURN, or a cursor outside of the
        /// log. What ran behind the last segment is not in the transcript.
        Broken = 5 => "the program left the form of an attested one",
    }
}

/// The first message of a transcript: what the run is about. Words 13 to 15 are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// What the compartment began with.
    pub measurement: [u8; 32],
    /// What the verifier sent.
    pub nonce: [u8; 32],
    /// Arguments of the call.
    pub arguments: [u64; 4],
}

/// A piece of the log, with the states before and behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of the segment, from 0 on, below 2^56.
    pub index: u64,
    /// State at its beginning: x22 to x25, drawn by the inner domain.
    pub first: [u64; 4],
    /// State at its end.
    pub last: [u64; 4],
    /// Words of the log that were written.
    pub words: u64,
    /// Path bits: x28 at its end. The next segment begins with them.
    pub path: u64,
    /// Address of the next instruction at its end.
    pub pc: u64,
    /// SHA-256 of the words of the log, by the host. The inner domain does not check it.
    pub digest: [u8; 32],
}

/// The last message of a transcript. Words 8 to 15 are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// How many segments there are, below 2^56.
    pub segments: u64,
    /// How it ended: an [`EndReason`].
    pub reason: u64,
    /// `ESR_EL1` of the exception, or 0.
    pub esr: u64,
    /// x0 of FLOW_END and EXIT, or 0.
    pub word: u64,
    /// 32 bytes that the program passed with FLOW_END, or zeros: x1 to x4.
    pub data: [u8; 32],
}

/// A message of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// The first one.
    Start(Start),
    /// One for each segment of the log.
    Segment(Segment),
    /// The last one.
    End(End),
}

impl Message {
    /// Returns the bytes of the message.
    pub fn to_bytes(&self) -> [u8; MESSAGE] {
        let mut words = [0; WORDS];
        let put = |words: &mut [u64; WORDS], at: usize, values: &[u64; 4]| {
            words[at..at + 4].copy_from_slice(values);
        };
        match self {
            Self::Start(it) => {
                words[0] = START << KIND_SHIFT;
                put(&mut words, 1, &to_words(&it.measurement));
                put(&mut words, 5, &to_words(&it.nonce));
                put(&mut words, 9, &it.arguments);
            }
            Self::Segment(it) => {
                words[0] = SEGMENT << KIND_SHIFT | number(it.index);
                put(&mut words, 1, &it.first);
                put(&mut words, 5, &it.last);
                words[9..12].copy_from_slice(&[it.words, it.path, it.pc]);
                put(&mut words, DIGEST / 8, &to_words(&it.digest));
            }
            Self::End(it) => {
                words[0] = END << KIND_SHIFT | number(it.segments);
                words[1..4].copy_from_slice(&[it.reason, it.esr, it.word]);
                put(&mut words, 4, &to_words(&it.data));
            }
        }
        let mut bytes = [0; MESSAGE];
        for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        bytes
    }

    /// Reads the bytes of a message. `None`: they are none, or not as
    /// [`to_bytes`](Self::to_bytes) writes them.
    pub fn from_bytes(bytes: &[u8; MESSAGE]) -> Option<Self> {
        let (chunks, _) = bytes.as_chunks::<8>();
        let words: [u64; WORDS] = core::array::from_fn(|at| u64::from_le_bytes(chunks[at]));
        let four = |at: usize| -> [u64; 4] { core::array::from_fn(|index| words[at + index]) };
        let number = number(words[0]);
        let message = match words[0] >> KIND_SHIFT {
            START => Self::Start(Start {
                measurement: from_words(&four(1)),
                nonce: from_words(&four(5)),
                arguments: four(9),
            }),
            SEGMENT => Self::Segment(Segment {
                index: number,
                first: four(1),
                last: four(5),
                words: words[9],
                path: words[10],
                pc: words[11],
                digest: from_words(&four(DIGEST / 8)),
            }),
            END => Self::End(End {
                segments: number,
                reason: words[1],
                esr: words[2],
                word: words[3],
                data: from_words(&four(4)),
            }),
            _ => return None,
        };
        (message.to_bytes() == *bytes).then_some(message)
    }
}

/// The bits of a first word below the kind.
const fn number(word: u64) -> u64 {
    word & ((1 << KIND_SHIFT) - 1)
}

fn to_words(bytes: &[u8; 32]) -> [u64; 4] {
    let (chunks, _) = bytes.as_chunks::<8>();
    core::array::from_fn(|at| u64::from_le_bytes(chunks[at]))
}

fn from_words(words: &[u64; 4]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_survives_its_bytes_and_no_bit_is_without_meaning() {
        let start = Start {
            measurement: core::array::from_fn(|at| at as u8),
            nonce: [7; 32],
            arguments: [1, 2, 3, 4],
        };
        let segment = Segment {
            index: 5,
            first: [6, 7, 8, 9],
            last: [10, 11, 12, 13],
            words: 14,
            path: 15,
            pc: 16,
            digest: core::array::from_fn(|at| 0x80 | at as u8),
        };
        let end = End {
            segments: 6,
            reason: EndReason::Faulted as u64,
            esr: 0x9200_0047,
            word: 3,
            data: [9; 32],
        };
        for it in [
            Message::Start(start),
            Message::Segment(segment),
            Message::End(end),
        ] {
            let bytes = it.to_bytes();
            assert_eq!(Message::from_bytes(&bytes), Some(it));
            for bit in 0..MESSAGE * 8 {
                let mut other = bytes;
                other[bit / 8] ^= 1 << (bit % 8);
                assert_ne!(Message::from_bytes(&other), Some(it), "bit {bit}");
            }
        }
        let bytes = Message::Segment(segment).to_bytes();
        assert_eq!(bytes[DIGEST..], segment.digest);
        assert_eq!(Message::from_bytes(&[0; MESSAGE]), None);
    }
}
