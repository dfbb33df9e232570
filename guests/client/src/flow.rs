// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs under flow attestation: what a verifier needs is handed out piece by piece.

use std::io;

use donjon_abi::flow::{DIGEST, End, MESSAGE, Message, RECORD, Start};
use sha2::{Digest, Sha256};

use crate::{Compartment, Error, Exit, Instance, Shared};

/// What a run is about, and how long its log is.
#[derive(Clone, Copy, Debug)]
pub struct FlowRun {
    /// What the verifier sent.
    pub nonce: [u8; 32],
    /// Arguments of the call.
    pub arguments: [u64; 4],
    /// Bytes of memory for the log, up to the next multiple of 4096: 1 to 2048 pages. A log that is
    /// longer is handed out in segments of this size.
    pub log_bytes: usize,
}

/// Takes what a verifier needs, in this order.
pub trait Evidence {
    /// Gives the SHA-256 of words of the log, as they are handed to [`words`](Self::words).
    fn digest(&mut self, bytes: &[u8]) -> [u8; 32] {
        Sha256::digest(bytes).into()
    }

    /// Takes words of the log, little-endian.
    ///
    /// # Errors
    ///
    /// If they cannot be kept. The run ends with that.
    fn words(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Takes a message of the transcript.
    ///
    /// # Errors
    ///
    /// If it cannot be kept. The run ends with that.
    fn message(&mut self, bytes: &[u8; MESSAGE]) -> io::Result<()>;

    /// Says whether the host ends the run here: asked whenever the program is on no CPU, above all
    /// where a signal for this process took it from one. Words that were not handed out are lost.
    fn is_cut(&self) -> bool {
        false
    }
}

/// A run that is over.
#[derive(Clone, Copy, Debug)]
pub struct Attested {
    /// How it ended, as the transcript says.
    pub end: End,
    /// The report, for the quoting compartment.
    pub report: [u8; RECORD],
}

impl Instance {
    /// Runs the program once under flow attestation, whose compartment must not have run, and
    /// serves what it asks for, as [`serve`](Self::serve) does. The words of the log and the
    /// messages of the transcript go to `evidence`, which may end the run as well. The compartment
    /// does not run again.
    ///
    /// # Errors
    ///
    /// If the device refuses something: because it has run, because the boot has no secret, because
    /// the program's limit has no room for the tables of the log; and if `evidence` fails.
    pub fn serve_attested(
        &mut self,
        run: &FlowRun,
        evidence: &mut impl Evidence,
        mut answer: impl FnMut(u64, &mut [u8]) -> u64,
    ) -> Result<Attested, Error> {
        let mut log = Shared::new(run.log_bytes)?;
        let measurement = self.compartment().information()?.measurement;
        // SAFETY: the slice of the log below is used while the compartment does not run.
        unsafe {
            self.compartment()
                .attest(&run.nonce, &run.arguments, &log)?
        };
        let start = Message::Start(Start {
            measurement,
            nonce: run.nonce,
            arguments: run.arguments,
        });
        keep(evidence.message(&start.to_bytes()))?;
        let mut arguments = [0; 4];
        let mut exit = Exit::Interrupted;
        while !evidence.is_cut() {
            exit = self.compartment().run(arguments)?;
            match exit {
                Exit::Interrupted => {}
                Exit::CalledOut(word) => arguments = [answer(word, self.shared()), 0, 0, 0],
                Exit::LogFull(words) => commit(self.compartment(), evidence, &mut log, words)?,
                _ => break,
            }
        }
        if let Exit::Ended(words) | Exit::Faulted(words) = exit {
            match commit(self.compartment(), evidence, &mut log, words) {
                // The program has left its form, and its last words are lost.
                Err(error) if words == 0 && error.is_wrong_time() => {}
                other => other?,
            }
        }
        let message = self.compartment().end_transcript()?;
        keep(evidence.message(&message))?;
        let Some(Message::End(end)) = Message::from_bytes(&message) else {
            return Err(failed(io::ErrorKind::InvalidData.into()));
        };
        let report = self.compartment().flow_report()?;
        Ok(Attested { end, report })
    }
}

/// Commits to words at the beginning of the log.
fn commit(
    compartment: &Compartment,
    evidence: &mut impl Evidence,
    log: &mut Shared,
    words: u64,
) -> Result<(), Error> {
    let bytes = usize::try_from(words).ok().and_then(|it| it.checked_mul(8));
    let bytes = bytes.and_then(|it| log.bytes().get(..it));
    let bytes = bytes.ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))?;
    // The log is this process's own memory: nothing changes it between here and the digest.
    let message = compartment.commit(evidence.digest(bytes))?;
    keep(evidence.words(bytes))?;
    keep(evidence.message(&message))
}

fn keep(kept: io::Result<()>) -> Result<(), Error> {
    kept.map_err(failed)
}

fn failed(cause: io::Error) -> Error {
    Error::new("keeping the log", cause)
}

/// A message that commits to a digest.
pub(crate) fn with_digest(digest: [u8; 32]) -> [u8; MESSAGE] {
    let mut message = [0; MESSAGE];
    message[DIGEST..].copy_from_slice(&digest);
    message
}
