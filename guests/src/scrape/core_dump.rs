// SPDX-License-Identifier: MIT OR Apache-2.0
//! What Linux writes to a file when a process ends: of libraries that are started for it.

use std::fs::{self, File};
use std::io::Read;

use anyhow::{Context, Result};
use donjon_guests::memory::PAGE;
use nix::sys::signal::Signal;

use crate::pair::Pair;
use crate::place::Place;
use crate::wanted::{Tally, Wanted};

const PATTERN: &str = "/proc/sys/kernel/core_pattern";

/// Starts libraries, ends them, and reads what is left of each process.
pub fn read(place: Place, seed: u64) -> Result<Tally> {
    let Ok(before) = fs::read_to_string(PATTERN) else {
        return Ok(Tally::default());
    };
    fs::write(PATTERN, "/tmp/core.%p").context(PATTERN)?;
    let mut pair = Pair::start(place, seed)?;
    let wanted = pair.target.wanted;
    let mut tally = Tally::THERE;
    for pid in pair.end(Signal::SIGABRT)? {
        let path = format!("/tmp/core.{pid}");
        tally += search(&path, wanted).with_context(|| format!("reading {path}"))?;
        fs::remove_file(&path)?;
    }
    fs::write(PATTERN, before).context(PATTERN)?;
    Ok(tally)
}

fn search(path: &str, wanted: Wanted) -> Result<Tally> {
    let mut tally = Tally::THERE;
    let mut file = File::open(path)?;
    let mut bytes = [0; PAGE];
    loop {
        let count = file.read(&mut bytes)?;
        if count == 0 {
            return Ok(tally);
        }
        tally.add_page(Some(&mut bytes), false, wanted);
    }
}
