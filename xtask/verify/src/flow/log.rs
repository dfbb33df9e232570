// SPDX-License-Identifier: MIT OR Apache-2.0
//! The log of a run: its segments, read one at a time.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Error, Result, ensure};
use donjon_abi::flow::EndReason;
use donjon_flow_chain::State;
use donjon_flow_check::{End, Ending, Segments, tag};
use sha2::{Digest, Sha256};

use super::folder::LOG;
use super::transcript::Transcript;

/// What a segment's words have to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fits {
    /// Whether the digest of the words is that of the transcript.
    pub digest: bool,
    /// Whether the words lead from the first state to the last one.
    pub tag: bool,
}

/// The log of a run, with its transcript.
pub struct Log<'a> {
    file: &'a File,
    transcript: &'a Transcript,
    /// Where each segment begins, in words.
    places: Vec<u64>,
    /// Whether a segment that does not have its digest cannot be loaded: the file was changed since
    /// it was checked.
    is_checked: bool,
    /// Why a segment could not be loaded.
    trouble: Option<Error>,
    /// Says that no further segment is wanted.
    stopped: Option<&'a AtomicBool>,
}

impl<'a> Log<'a> {
    /// Prepares the log of a transcript. The file has as many words as all segments together.
    pub fn new(file: &'a File, transcript: &'a Transcript) -> Self {
        let mut end = 0;
        let begin = |words: u64| {
            let begin = end;
            end += words;
            begin
        };
        let segments = transcript.segments.iter();
        Self {
            file,
            transcript,
            places: segments.map(|it| it.words).map(begin).collect(),
            is_checked: true,
            trouble: None,
            stopped: None,
        }
    }

    /// Lets segments be loaded that do not have their digests.
    pub fn unchecked(mut self) -> Self {
        self.is_checked = false;
        self
    }

    /// Lets no further segment be loaded once a flag is set.
    pub fn until(mut self, stopped: &'a AtomicBool) -> Self {
        self.stopped = Some(stopped);
        self
    }

    /// Takes the reason why a segment could not be loaded.
    pub fn trouble(&mut self) -> Error {
        let none = || Error::msg("the log cannot be read");
        self.trouble.take().unwrap_or_else(none)
    }

    /// Reads a segment and compares its digest and its tag with those of the transcript.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn check(&self, number: usize) -> Result<Fits> {
        let segment = &self.transcript.segments[number];
        let (words, digest) = self.read(number)?;
        Ok(Fits {
            digest: digest == segment.digest,
            tag: tag(State(segment.first), &words) == State(segment.last),
        })
    }

    /// Reads a segment; its words and the digest of their bytes.
    fn read(&self, number: usize) -> Result<(Rc<[u64]>, [u8; 32])> {
        // The transcript has no segment above the limit of words, so this is 8 MiB at most.
        let count = self.transcript.segments[number].words as usize;
        let mut bytes = vec![[0; 8]; count];
        let read = self
            .file
            .read_exact_at(bytes.as_flattened_mut(), 8 * self.places[number]);
        read.with_context(|| format!("reading segment {number} of the file {LOG}"))?;
        let digest = Sha256::digest(bytes.as_flattened());
        Ok((
            bytes.iter().map(|&it| u64::from_le_bytes(it)).collect(),
            digest.into(),
        ))
    }

    fn loaded(&self, number: usize) -> Result<Rc<[u64]>> {
        let is_stopped = self.stopped.is_some_and(|it| it.load(Ordering::Relaxed));
        ensure!(!is_stopped, "no further segment is wanted");
        let (words, digest) = self.read(number)?;
        ensure!(
            !self.is_checked || digest == self.transcript.segments[number].digest,
            "the file {LOG} was changed while it was read"
        );
        Ok(words)
    }
}

impl Segments for Log<'_> {
    fn count(&self) -> usize {
        self.transcript.segments.len()
    }

    fn words(&self, number: usize) -> usize {
        self.transcript.segments[number].words as usize
    }

    fn end(&self, number: usize) -> End {
        let segment = &self.transcript.segments[number];
        let is_last = number + 1 == self.transcript.segments.len();
        let finished = is_last && self.transcript.reason == EndReason::Finished;
        End {
            how: if finished {
                Ending::Finished
            } else {
                Ending::Stopped
            },
            pc: segment.pc,
            path: segment.path,
        }
    }

    fn load(&mut self, number: usize) -> Option<Rc<[u64]>> {
        match self.loaded(number) {
            Ok(words) => Some(words),
            Err(trouble) => {
                self.trouble = Some(trouble);
                None
            }
        }
    }
}
