// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of the small program, as the inner domain would record them.

use donjon_abi::flow::{End, EndReason, Segment};
use donjon_flow_chain::State;
use donjon_flow_check::tag;
use sha2::{Digest, Sha256};

use super::assembler::{BITS, Text};

/// What a round of the loop does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// Goes on.
    On,
    /// Leaves, and the program ends.
    Leave,
    /// Gives up.
    GiveUp,
    /// Faults behind the call of `open`.
    Fault,
    /// Is cut before the pointer is recorded.
    Cut,
}

/// A run: what is in its transcript, and its words.
#[derive(Clone)]
pub struct Run {
    pub segments: Vec<Segment>,
    pub words: Vec<Vec<u64>>,
    pub end: End,
}

struct Recorder<'a> {
    text: &'a Text,
    run: Run,
    log: Vec<u64>,
    path: u64,
    /// Words of a segment.
    room: usize,
}

impl Recorder<'_> {
    fn record(&mut self, at: &str, word: u64) {
        if self.log.len() == self.room {
            self.close(self.text.labels[at]);
        }
        self.log.push(word);
    }

    fn close(&mut self, pc: u64) {
        let words = std::mem::take(&mut self.log);
        let index = self.run.segments.len() as u64;
        // Different states, as if they were drawn.
        let first = [1, 2, 3, 4].map(|it| (index * 4 + it).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        self.run.segments.push(Segment {
            index,
            first,
            last: tag(State(first), &words).0,
            words: words.len() as u64,
            path: self.path,
            pc,
            digest: digest(&words),
        });
        self.run.words.push(words);
        self.run.end.segments = index + 1;
    }
}

/// Returns the digest of words, as the host commits to it.
pub fn digest(words: &[u64]) -> [u8; 32] {
    let bytes: Vec<u8> = words.iter().flat_map(|it| it.to_le_bytes()).collect();
    Sha256::digest(bytes).into()
}

/// Runs the program: so many rounds, and then the last one. A segment has `room` words at most.
pub fn run(text: &Text, rounds: usize, last: Round, room: usize) -> Run {
    let mut recorder = Recorder {
        text,
        run: Run {
            segments: Vec::new(),
            words: Vec::new(),
            end: End {
                segments: 0,
                reason: EndReason::Cut as u64,
                esr: 0,
                word: 0,
                data: [0; 32],
            },
        },
        log: Vec::new(),
        path: 1,
        room,
    };
    for round in std::iter::repeat_n(Round::On, rounds).chain([last]) {
        if recorder.path >> (63 - BITS) != 0 {
            recorder.record("flush", recorder.path);
            recorder.path = 1;
        }
        recorder.path <<= BITS;
        match round {
            Round::On => recorder.record("pointer", text.labels["open"]),
            Round::Leave => {
                recorder.path += 1;
                recorder.record("link", text.labels["returned"]);
                recorder.close(text.labels["returned"] + 4);
                recorder.run.end.reason = EndReason::Finished as u64;
                recorder.run.end.word = 0x1234;
                recorder.run.end.data = [7; 32];
            }
            Round::GiveUp => {
                recorder.path += 2;
                recorder.close(text.labels["quit"]);
                recorder.run.end.reason = EndReason::Exited as u64;
            }
            Round::Fault => {
                recorder.record("pointer", text.labels["open"]);
                recorder.close(text.labels["opened"]);
                recorder.run.end.reason = EndReason::Faulted as u64;
                recorder.run.end.esr = 0x9200_0047;
            }
            Round::Cut => recorder.close(text.labels["pointer"]),
        }
    }
    recorder.run
}
