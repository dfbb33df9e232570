// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds of a program, and how each is run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use donjon_abi::flow::EndReason;
use donjon_client::{Exit, FAILED, FlowRun, Image, Instance, PAGE};

use crate::hash::{Hash, Kept};

/// Pages of the log in a compartment, usually.
pub const LOG_PAGES: u64 = 256;

/// Whether a program says which path it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Without instrumentation.
    Plain,
    /// With instrumentation.
    Flow,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Flow => "flow",
        }
    }
}

/// The builds of a program.
pub struct Program {
    folder: PathBuf,
    name: String,
}

impl Program {
    /// Names the builds of a program in a folder.
    pub fn new(folder: &Path, name: &str) -> Self {
        Self {
            folder: folder.to_path_buf(),
            name: name.to_owned(),
        }
    }

    fn path(&self, kind: Kind, suffix: &str) -> PathBuf {
        self.folder
            .join(format!("{}.{}{suffix}", self.name, kind.name()))
    }

    /// Runs the program in a process, with work that is repeated so often. What it prints is
    /// dropped.
    pub fn outside(&self, kind: Kind, repetitions: u64) -> Result<()> {
        let path = self.path(kind, "");
        // The state of the chain is the caller's choice here: nothing hides it.
        let mut command = Command::new(&path);
        command
            .args(["1", "2", "3", "4"])
            .arg(format!("{repetitions:x}"));
        let status = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .with_context(|| format!("starting {}", path.display()))?;
        ensure!(status.success(), "{}: {status}", path.display());
        Ok(())
    }

    /// Makes a compartment of the program, which has not run.
    pub fn instance(&self, kind: Kind) -> Result<Instance> {
        let path = self.path(kind, ".image");
        let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let image = Image::parse(&bytes).with_context(|| path.display().to_string())?;
        Ok(Instance::new(&image)?)
    }
}

/// Runs a program without instrumentation in its compartment.
pub fn inside(instance: &mut Instance, repetitions: u64) -> Result<()> {
    match instance.serve([repetitions, 0, 0, 0], drop_output)? {
        Exit::Returned(_) => Ok(()),
        exit => bail!("a program was left: {exit:x?}"),
    }
}

/// Runs an instrumented program in its compartment under flow attestation; what was kept of it.
pub fn attested(
    instance: &mut Instance,
    repetitions: u64,
    log_pages: u64,
    hash: Hash,
) -> Result<Kept> {
    let run = FlowRun {
        nonce: [0x5a; 32],
        arguments: [repetitions, 0, 0, 0],
        log_bytes: (log_pages * PAGE) as usize,
    };
    let mut kept = Kept::new(hash)?;
    let attested = instance.serve_attested(&run, &mut kept, drop_output)?;
    let end = attested.end;
    ensure!(
        end.reason == EndReason::Finished as u64,
        "an attested program did not end by itself: {end:x?}"
    );
    Ok(kept)
}

/// Answers that all was written, and nothing can be read.
fn drop_output(word: u64, _: &mut [u8]) -> u64 {
    use donjon_client::Request;
    match Request::from_word(word) {
        Some(Request::Output(bytes) | Request::Error(bytes)) => bytes,
        Some(Request::Input(_)) => 0,
        None => FAILED,
    }
}
