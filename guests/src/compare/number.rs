// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many compartments at once, from one template.

use std::fs;

use anyhow::{Context, Result, ensure};
use donjon_client::Compartment;
use donjon_loops::Task;
use nix::sys::resource::{Resource, setrlimit};

use crate::inside::{call, make};
use donjon_guests::meter::Meter;

/// Descriptors that are open besides.
const OTHERS: u64 = 100;
/// What the kernel says of blocks that the inner domain may have.
const POOL: &str = "/sys/kernel/security/donjon/pool";
/// KiB of a page.
const PAGE_KIB: u64 = 4;
/// How often it is said what they take.
const ROWS: u64 = 100;

/// Makes `count` compartments, runs each once, and ends them. An observer from outside has
/// `seconds` before the first, with all of them, and when all but the template have ended: the
/// program says `look` each time.
pub fn run(count: u64, seconds: u64) -> Result<()> {
    let most = count + OTHERS;
    setrlimit(Resource::RLIMIT_NOFILE, most, most).context("a limit of open files")?;
    let mut meter = Meter::start()?;
    let before = free()?;
    let template = make()?;
    look(seconds);
    let begin = meter.now()?;
    let mut all: Vec<Compartment> = Vec::with_capacity(usize::try_from(count)?);
    let mut made = Vec::with_capacity(all.capacity());
    let step = (count / ROWS).max(1);
    for number in 1..=count {
        let (one, cost) = meter.measure(|| Ok(template.compartment().another()?))?;
        all.push(one);
        made.push(cost);
        if number == 1 || number % step == 0 {
            let used = memory("MemTotal")? + of_reserve("kib")? - free()?;
            println!("row: {number} {used} {}", meter.now()? - begin);
        }
    }
    for (number, one) in (0..).zip(&all) {
        let sum = call(one, Task::Add, number, 1)?;
        ensure!(sum == number + 1, "compartment {number} says {sum}");
    }
    look(seconds);
    let alive = free()?;
    let frames = all.last().context("none")?.information()?.frames;
    let mut ended = Vec::with_capacity(all.len());
    for one in all {
        let work = || {
            drop(one);
            Ok(())
        };
        ended.push(meter.measure(work)?.1);
    }
    look(seconds);
    let ((), back) = meter.measure(|| {
        drop(template);
        Ok(())
    })?;
    // What Linux frees late is free then.
    std::thread::sleep(std::time::Duration::from_secs(1));
    let after = free()?;
    println!("free: {before} {alive} {after}");
    println!("frames: {frames}");
    println!("back: {back}");
    for (name, costs) in [("made", &made), ("ended", &ended)] {
        let words: Vec<String> = costs.iter().map(u64::to_string).collect();
        println!("{name}: {}", words.join(" "));
    }
    Ok(())
}

/// Lets an auditor look.
fn look(seconds: u64) {
    if seconds > 0 {
        println!("look");
        std::thread::sleep(std::time::Duration::from_secs(seconds));
    }
}

/// KiB that Linux has free: `MemFree`, what it keeps on lists of CPUs, which is not part of it, and
/// blocks of the reserve.
fn free() -> Result<u64> {
    let text = fs::read_to_string("/proc/zoneinfo")?;
    let counts = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("count:"));
    let pages: Vec<u64> = counts
        .map(|it| it.trim().parse().context("a count in /proc/zoneinfo"))
        .collect::<Result<_>>()?;
    Ok(memory("MemFree")? + pages.iter().sum::<u64>() * PAGE_KIB + of_reserve("free_kib")?)
}

/// KiB of blocks that no device reaches: all (`kib`), or those that are free (`free_kib`). Linux
/// does not count them.
fn of_reserve(what: &str) -> Result<u64> {
    let text = fs::read_to_string(POOL)?;
    let parts = ["tables", "compartments"].map(|it| format!("protected_{it}_{what}: "));
    let sizes = text.lines().filter_map(|line| {
        let size = parts.iter().find_map(|it| line.strip_prefix(it.as_str()))?;
        size.parse::<u64>().ok()
    });
    Ok(sizes.sum())
}

/// A line of `/proc/meminfo`, in KiB.
fn memory(name: &str) -> Result<u64> {
    let text = fs::read_to_string("/proc/meminfo")?;
    let value = text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?.strip_prefix(':')?;
        rest.split_whitespace().next()?.parse().ok()
    });
    value.with_context(|| format!("no {name} in /proc/meminfo"))
}
