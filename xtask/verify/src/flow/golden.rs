// SPDX-License-Identifier: MIT OR Apache-2.0
//! A path beside the one of another run, step by step.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;

use anyhow::{Result, anyhow, bail, ensure};
use donjon_flow_check::{Event, Limits, Program, replay_loaded};

use super::folder::Folder;
use super::log::Log;
use super::transcript::{Transcript, digest};

/// Steps that are handed over at a time.
const BATCH: usize = 1 << 12;
/// Batches that wait at most.
const WAITING: usize = 16;

/// A run that was kept, and that is trusted: its token is not looked at.
pub struct Golden {
    folder: Folder,
    transcript: Transcript,
    stopped: AtomicBool,
    /// SHA-256 of its transcript, which has the digests of its log.
    pub digest: [u8; 32],
}

impl Golden {
    /// Opens a run of a program with this measurement.
    ///
    /// # Errors
    ///
    /// If the files cannot be read, are not of such a run, or do not fit each other.
    pub fn open(path: &Path, measurement: &[u8; 32]) -> Result<Self> {
        let mut folder = Folder::open(path)?;
        let bytes = std::mem::take(&mut folder.transcript);
        let transcript = Transcript::parse(&bytes);
        let transcript = transcript.map_err(|it| anyhow!("the transcript is wrong: {it}"))?;
        ensure!(
            transcript.start.measurement == *measurement,
            "it is a run of another program"
        );
        ensure!(
            folder.log_bytes == 8 * transcript.words(),
            "its log has another length than its transcript says"
        );
        let log = Log::new(&folder.log, &transcript);
        for number in 0..transcript.segments.len() {
            let fits = log.check(number)?;
            ensure!(
                fits.digest && fits.tag,
                "segment {number} of its log was changed"
            );
        }
        Ok(Self {
            folder,
            transcript,
            stopped: AtomicBool::new(false),
            digest: digest(&bytes),
        })
    }

    /// Begins to walk the path of the run, in a thread of its own.
    pub fn walk<'s, 'e>(
        &'e self,
        scope: &'s Scope<'s, 'e>,
        program: &'e Program,
        limits: Limits,
    ) -> Beside<'e> {
        let (sender, receiver) = sync_channel(WAITING);
        scope.spawn(move || self.send(program, limits, &sender));
        Beside {
            golden: self,
            receiver,
            batch: Vec::new().into_iter(),
            steps: 0,
            differs: None,
            failed: None,
        }
    }

    fn send(&self, program: &Program, limits: Limits, sender: &SyncSender<Result<Vec<Event>>>) {
        let mut batch = Vec::with_capacity(BATCH);
        let mut log = Log::new(&self.folder.log, &self.transcript).until(&self.stopped);
        let replayed = replay_loaded(program, &mut log, limits, &mut |event| {
            batch.push(event);
            if batch.len() == BATCH {
                let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                if self.stopped.load(Ordering::Relaxed) || sender.send(Ok(full)).is_err() {
                    self.stopped.store(true, Ordering::Relaxed);
                }
            }
        });
        let last = match replayed {
            Ok(_) => Ok(batch),
            Err(failure) => Err(anyhow!("{failure}")),
        };
        // An error says that no step is wanted.
        let _ = sender.send(last);
    }
}

/// The first step at which two paths differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Number of the step, from 0 on.
    pub step: u64,
    /// The step of the golden run. `None`: it ended before.
    pub golden: Option<Event>,
    /// The step of this run. `None`: it ended before.
    pub own: Option<Event>,
}

/// The path of a golden run, which goes on with the path that it is compared with.
pub struct Beside<'a> {
    golden: &'a Golden,
    receiver: Receiver<Result<Vec<Event>>>,
    batch: std::vec::IntoIter<Event>,
    steps: u64,
    differs: Option<Difference>,
    failed: Option<anyhow::Error>,
}

impl Beside<'_> {
    /// Compares the next step.
    pub fn add(&mut self, own: Event) {
        if self.differs.is_some() || self.failed.is_some() {
            return;
        }
        match self.next() {
            Ok(golden) if golden == Some(own) => self.steps += 1,
            Ok(golden) => self.differ(golden, Some(own)),
            Err(trouble) => {
                self.failed = Some(trouble);
                self.stop();
            }
        }
    }

    /// Ends the comparison; the first difference.
    ///
    /// # Errors
    ///
    /// If the golden run is no path of the program, or longer than the limit.
    pub fn end(mut self) -> Result<Option<Difference>> {
        if self.differs.is_none() && self.failed.is_none() {
            match self.next() {
                Ok(None) => {}
                Ok(golden) => self.differ(golden, None),
                Err(trouble) => self.failed = Some(trouble),
            }
        }
        self.stop();
        match self.failed.take() {
            Some(trouble) => Err(trouble),
            None => Ok(self.differs),
        }
    }

    fn differ(&mut self, golden: Option<Event>, own: Option<Event>) {
        self.differs = Some(Difference {
            step: self.steps,
            golden,
            own,
        });
        self.stop();
    }

    fn next(&mut self) -> Result<Option<Event>> {
        loop {
            if let Some(event) = self.batch.next() {
                return Ok(Some(event));
            }
            match self.receiver.recv() {
                Ok(Ok(batch)) => self.batch = batch.into_iter(),
                Ok(Err(trouble)) => bail!(trouble.context("the golden run is of no use")),
                Err(_) => return Ok(None),
            }
        }
    }

    /// Lets the other thread end.
    fn stop(&mut self) {
        self.golden.stopped.store(true, Ordering::Relaxed);
        let (_, none) = sync_channel(0);
        self.receiver = none;
    }
}

impl Difference {
    /// Says what differs, with functions and lines.
    pub fn words(&self, program: &Program) -> String {
        let place = |it: Option<Event>| match it {
            None => "at its end".to_owned(),
            Some(Event::Block { start, .. }) => format!("at {}", located(program, start)),
            Some(Event::Loop { start, times, .. }) => {
                format!(
                    "in round {times} of the loop at {}",
                    located(program, start)
                )
            }
        };
        let (own, golden) = (place(self.own), place(self.golden));
        let step = self.step;
        format!(
            "the path leaves that of the golden run at step {step}: it is {own}, the other one {golden}"
        )
    }
}

fn located(program: &Program, address: u64) -> String {
    let place = program.names().located(address);
    place.map_or(format!("{address:#x}"), |it| format!("{address:#x} ({it})"))
}
