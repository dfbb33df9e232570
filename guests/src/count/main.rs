// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a command and prints how many instructions CPU 0 executed meanwhile, whoever they were
//! for, and how many calls the inner domain had.
//!
//! `donjon-count COMMAND…` prints `count: INSTRUCTIONS CALLS` behind what the command prints.
//! Instructions retired do not include time in which the CPU waits, as cycles do under QEMU's
//! `-icount`.

use std::fs;
use std::process::{Command, exit};

use anyhow::{Context, Result, bail, ensure};
use donjon_guests::perf::Instructions;

const STATUS: &str = "/sys/kernel/security/donjon/status";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [program, rest @ ..] = &arguments[..] else {
        bail!("usage: donjon-count COMMAND…");
    };
    // Not while the counter runs: the inner domain would measure each call from then on.
    let calls = calls()?;
    let mut counter = Instructions::of_cpu_0().context("starting the counter")?;
    let before = counter.read().context("reading the counter")?;
    let status = Command::new(program)
        .args(rest)
        .status()
        .with_context(|| format!("starting {program}"))?;
    let after = counter.read().context("reading the counter")?;
    drop(counter);
    ensure!(after > before, "the counter does not count");
    println!("count: {} {}", after - before, self::calls()? - calls);
    exit(status.code().unwrap_or(255));
}

/// Calls since the start; none where there is no inner domain.
fn calls() -> Result<u64> {
    let Ok(text) = fs::read_to_string(STATUS) else {
        return Ok(0);
    };
    let calls = text.lines().find_map(|it| it.strip_prefix("calls:"));
    let calls = calls.context("the inner domain's status has no line `calls`")?;
    Ok(calls.trim().parse()?)
}
