// SPDX-License-Identifier: MIT OR Apache-2.0
//! The path of a run, with all that looks at its steps.

use std::thread;

use anyhow::{Error, Result, bail};
use donjon_flow_check::{Failure, Fault, Limits, Program, Segments, Totals, replay_loaded};

use super::golden::{Difference, Golden};
use super::log::Log;
use super::policy::Watch;

/// Blocks of an unproven path that are walked at most.
const UNPROVEN: u64 = 1 << 24;
/// Bytes of stack of a call that is open, at least.
const FRAME: u64 = 16;
/// Bytes of a page.
const PAGE: u64 = 4096;
/// Calls within each other for which there is memory.
const DEEP: u64 = 1 << 26;

/// What a path may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Blocks.
    pub blocks: u64,
    /// Frames that the compartment may have: its stack is no larger.
    pub frames: u64,
}

impl Bounds {
    fn calls(&self) -> u64 {
        self.frames.saturating_mul(PAGE / FRAME).saturating_add(1)
    }

    fn limits(&self) -> Limits {
        Limits {
            blocks: self.blocks,
            depth: self.calls().min(DEEP) as usize,
        }
    }
}

/// What came of a path.
pub struct Walked {
    /// How long it is.
    pub totals: Totals,
    /// Where it first differs from the golden run, if there is one and it does.
    pub differs: Option<Difference>,
}

/// Walks the path of a log whose tags fit. The inner error is the first step that the program
/// cannot have made.
///
/// # Errors
///
/// If a file cannot be read, the path is too long, or the golden run is of no use.
pub fn walk(
    program: &Program,
    log: &mut Log<'_>,
    bounds: Bounds,
    watch: &mut Option<Watch<'_>>,
    golden: Option<&Golden>,
) -> Result<Result<Walked, Failure>> {
    let limits = bounds.limits();
    thread::scope(|scope| {
        let mut beside = golden.map(|it| it.walk(scope, program, limits));
        let mut each = |event| {
            if let Some(watch) = watch {
                watch.add(event);
            }
            if let Some(beside) = &mut beside {
                beside.add(event);
            }
        };
        // A run that was cut at once has no path, and that is no fault of its log.
        let replayed = match log.count() {
            0 => Ok(Totals::default()),
            _ => replay_loaded(program, log, limits, &mut each),
        };
        let totals = match replayed {
            Ok(totals) => totals,
            Err(failure) => return stopped(failure, log, bounds).map(Err),
        };
        let differs = beside.map(|it| it.end()).transpose()?;
        Ok(Ok(Walked {
            totals,
            differs: differs.flatten(),
        }))
    })
}

/// Tells a step that cannot be from a path that could not be walked.
fn stopped(failure: Failure, log: &mut Log<'_>, bounds: Bounds) -> Result<Failure> {
    match failure.fault {
        Fault::Unreadable => Err(log.trouble()),
        Fault::Long => bail!(
            "the path has more than {} blocks; allow more with --max-blocks",
            bounds.blocks
        ),
        Fault::Deep if bounds.calls() > DEEP => bail!("more than {DEEP} calls are open"),
        _ => Ok(failure),
    }
}

/// Walks the path of a log that is not proven, for diagnosis; what it shows, in words.
pub fn unproven(program: &Program, log: &mut Log<'_>, bounds: Bounds) -> String {
    let blocks = bounds.blocks.min(UNPROVEN);
    let limits = Bounds { blocks, ..bounds }.limits();
    match replay_loaded(program, log, limits, &mut |_| {}) {
        Ok(totals) => format!(
            "it would be a path of {} blocks and {} calls",
            totals.blocks, totals.calls
        ),
        Err(failure) => match failure.fault {
            Fault::Unreadable => {
                let trouble: Error = log.trouble();
                format!("{trouble:#}")
            }
            Fault::Long => format!("it would be a path of more than {blocks} blocks"),
            _ => format!("it would be no path: {failure}"),
        },
    }
}
