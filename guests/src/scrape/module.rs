// SPDX-License-Identifier: MIT OR Apache-2.0
//! The attacker's module in the kernel, which searches all of RAM.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use anyhow::{Context, Result, bail};

use crate::wanted::{Tally, Wanted};

const PARAMETERS: &str = "/sys/module/donjon_attack/parameters";
/// The longest record of the kernel's log.
const RECORD: usize = 8192;

/// Has the module search by one of its ways.
pub fn search(way: &str, wanted: Wanted) -> Result<Tally> {
    let name = format!("scrape-memory/{way}");
    set("complement", &wanted.0.to_string())?;
    let mut log = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/kmsg")
        .context("the kernel's log")?;
    log.seek(SeekFrom::End(0))?;
    set("run", &name)?;
    set("undo", "1")?;
    let begin = format!("attack {name}: ");
    let mut record = [0; RECORD];
    loop {
        let count = match log.read(&mut record) {
            Ok(count) => count,
            // What is oldest was overwritten.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => continue,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                bail!("the module does not say what became of {name}")
            }
            Err(error) => return Err(error).context("reading the kernel's log"),
        };
        let line = String::from_utf8_lossy(&record[..count]);
        if let Some((_, said)) = line.split_once(&begin) {
            let said = said.lines().next().unwrap_or_default();
            return tally(said).with_context(|| format!("{name}: {said}"));
        }
    }
}

fn set(parameter: &str, value: &str) -> Result<()> {
    let path = format!("{PARAMETERS}/{parameter}");
    fs::write(&path, value).with_context(|| format!("writing {value} to {path}"))
}

/// What it says: `SUCCEEDED, found N times, …`, or `stopped, nothing found, …`.
fn tally(said: &str) -> Result<Tally> {
    let (outcome, rest) = said.split_once(", ").context("no outcome")?;
    let before = |words: &str| {
        let (number, _) = rest.split_once(words)?;
        number.rsplit(' ').next()?.parse::<u64>().ok()
    };
    let found = match outcome {
        "SUCCEEDED" => before(" times").context("how often?")?,
        "stopped" => 0,
        _ => bail!("it was not tried"),
    };
    // It did not get as far as a page where what it needs was refused.
    let refused = before(" refused").map(|it| it + before(" faulted").unwrap_or(0));
    Ok(Tally {
        read: before(" pages read").unwrap_or(0),
        refused: refused.unwrap_or(1),
        // It has tried all of RAM, so had it read pages with messages, they would be found.
        reached: found,
        found,
        ..Tally::THERE
    })
}
