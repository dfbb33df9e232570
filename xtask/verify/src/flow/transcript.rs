// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transcript of a run, as it has to be.

use donjon_abi::flow::{End, EndReason, LOG_PAGES_MAX, MESSAGE, Message, Segment, Start};
use donjon_compartment_image::PAGE;
use sha2::{Digest, Sha256};

/// Most words of a segment: all pages of a log.
pub const WORDS_MAX: u64 = LOG_PAGES_MAX * PAGE / 8;

/// A transcript that is well formed. What it says is proved by the report that has its digest.
pub struct Transcript {
    /// What the run is about.
    pub start: Start,
    /// The pieces of the log, in order.
    pub segments: Vec<Segment>,
    /// How the run ended.
    pub end: End,
    /// The reason in `end`.
    pub reason: EndReason,
}

impl Transcript {
    /// Reads a transcript.
    ///
    /// # Errors
    ///
    /// What is wrong with it, for people.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let (messages, rest) = bytes.as_chunks::<MESSAGE>();
        if !rest.is_empty() {
            return Err(format!("{} bytes are behind its last message", rest.len()));
        }
        let [first, segments @ .., last] = messages else {
            return Err("it has no start and no end".into());
        };
        let Some(Message::Start(start)) = Message::from_bytes(first) else {
            return Err("it does not begin with a start".into());
        };
        let mut found = Vec::with_capacity(segments.len());
        for (number, bytes) in segments.iter().enumerate() {
            match Message::from_bytes(bytes) {
                Some(Message::Segment(it)) if it.index == number as u64 => found.push(it),
                Some(Message::Segment(it)) => {
                    let index = it.index;
                    return Err(format!("segment {index} stands where {number} has to be"));
                }
                _ => return Err(format!("where segment {number} has to be is none")),
            }
        }
        let Some(Message::End(end)) = Message::from_bytes(last) else {
            return Err("it does not end with an end: the run was not closed".into());
        };
        if end.segments != found.len() as u64 {
            let (said, count) = (end.segments, found.len());
            return Err(format!("its end says {said} segments, and it has {count}"));
        }
        if let Some(it) = found.iter().find(|it| it.words > WORDS_MAX) {
            let (index, words) = (it.index, it.words);
            return Err(format!(
                "segment {index} has {words} words, and {WORDS_MAX} are the most"
            ));
        }
        let reason = EndReason::from_number(end.reason);
        Ok(Self {
            start,
            segments: found,
            end,
            reason: reason.ok_or_else(|| format!("its end has no known reason: {}", end.reason))?,
        })
    }

    /// Returns how many words all segments have.
    pub fn words(&self) -> u64 {
        self.segments.iter().map(|it| it.words).sum()
    }
}

/// Returns the digest of a transcript's bytes, as a report has it.
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
