// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the host of a measured run does with the log.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Write};

use anyhow::{Context, Result};
use donjon_client::Evidence;
use donjon_guests::meter::Meter;
use sha2::Digest as _;
use sha2_soft::Digest as _;

/// How the log is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// The log is neither kept nor hashed: the run is worth nothing, and shows what the rest costs.
    None,
    /// Kept, and hashed with the CPU's instructions where it has them.
    Extension,
    /// Kept, and hashed without such instructions.
    Software,
}

/// Hashes a MiB with each way, and prints what a MiB takes: `hash: EXTENSION SOFTWARE`.
pub fn run() -> Result<()> {
    let bytes = vec![0x5a; 1 << 20];
    let mut meter = Meter::start()?;
    let mut cost = |hash| {
        let mut kept = Kept::new(Hash::None)?;
        kept.hash = hash;
        // The first time takes more: memory, and looking for what the CPU has.
        kept.digest(&bytes);
        Ok::<_, anyhow::Error>(meter.measure(|| Ok(black_box(kept.digest(&bytes))))?.1)
    };
    let (extension, software) = (cost(Hash::Extension)?, cost(Hash::Software)?);
    println!("hash: {extension} {software}");
    Ok(())
}

/// Where a log is kept: in memory, as a file.
const LOG: &str = "/tmp/flow.log";

/// A log that is kept.
pub struct Kept {
    hash: Hash,
    file: Option<File>,
    /// Words so far.
    pub words: u64,
    /// Segments so far.
    pub segments: u64,
}

impl Kept {
    /// Makes the file, if the log is kept.
    pub fn new(hash: Hash) -> Result<Self> {
        let file = (hash != Hash::None).then(|| File::create(LOG));
        Ok(Self {
            hash,
            file: file.transpose().context(LOG)?,
            words: 0,
            segments: 0,
        })
    }
}

impl Evidence for Kept {
    fn digest(&mut self, bytes: &[u8]) -> [u8; 32] {
        match self.hash {
            Hash::None => [0; 32],
            Hash::Extension => sha2::Sha256::digest(bytes).into(),
            Hash::Software => sha2_soft::Sha256::digest(bytes).into(),
        }
    }

    fn words(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.words += bytes.len() as u64 / 8;
        self.segments += 1;
        self.file.as_mut().map_or(Ok(()), |it| it.write_all(bytes))
    }

    fn message(&mut self, _: &[u8; 128]) -> io::Result<()> {
        Ok(())
    }
}
