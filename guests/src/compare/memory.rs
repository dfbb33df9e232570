// SPDX-License-Identifier: MIT OR Apache-2.0
//! A block of memory: had, written, read and given back, several times.

use std::slice;

use anyhow::{Result, ensure};
use donjon_guests::memory::Mapping;
use donjon_guests::meter::Meter;
use donjon_loops::{PAGE, Task, read, touch, write};

use crate::inside::{call, make};

/// Bytes of a MB here.
const MB: u64 = 1 << 20;
/// Pages that a table of the last level is for, and tables that there are besides.
const TABLES: (u64, u64) = (512, 8);
/// Times that a block is had and given back. Linux's other work is in some of them.
const SAMPLES: u64 = 5;
/// Blocks of more MB are written and read in the first sample alone: other work is little beside
/// it.
const SMALL: u64 = 100;

/// Measures one size, inside and outside: a line each for each sample.
pub fn run(megabytes: u64) -> Result<()> {
    let mut meter = Meter::start()?;
    for sample in 0..SAMPLES {
        let access = sample == 0 || megabytes <= SMALL;
        let outside = outside(&mut meter, megabytes * MB, access)?;
        let inside = inside(&mut meter, megabytes, access)?;
        ensure!(
            inside == outside,
            "{megabytes} MB: {inside:x} was read inside, {outside:x} outside"
        );
    }
    Ok(())
}

/// Measures in a process. What is not measured is said as 0.
fn outside(meter: &mut Meter, bytes: u64, access: bool) -> Result<u64> {
    let (mapping, allocate) = meter.measure(|| {
        let mapping = Mapping::anonymous(usize::try_from(bytes)?)?;
        touch(words(&mapping));
        Ok(mapping)
    })?;
    let (mut written, mut sum, mut loaded) = (0, 0, 0);
    if access {
        ((), written) = meter.measure(|| {
            write(words(&mapping), bytes);
            Ok(())
        })?;
        (sum, loaded) = meter.measure(|| Ok(read(words(&mapping))))?;
    }
    let ((), freed) = meter.measure(|| {
        drop(mapping);
        Ok(())
    })?;
    println!(
        "outside: {} {allocate} {written} {loaded} {freed}",
        bytes / MB
    );
    Ok(sum)
}

/// The words of a mapping.
#[expect(
    clippy::mut_from_ref,
    reason = "each caller is done with it before the next one"
)]
fn words(mapping: &Mapping) -> &mut [u64] {
    // SAFETY: the mapping's own words, which nothing else refers to at that time.
    unsafe { slice::from_raw_parts_mut(mapping.pointer().cast(), mapping.bytes() / 8) }
}

/// Measures in a compartment. What it grows by is taken from Linux before, since it cannot wait for
/// that.
fn inside(meter: &mut Meter, megabytes: u64, access: bool) -> Result<u64> {
    let instance = make()?;
    let it = instance.compartment();
    let pages = megabytes * MB / PAGE as u64;
    let ((), reserve) = meter.measure(|| {
        let frames = pages + pages / TABLES.0 + TABLES.1;
        Ok(it.reserve(frames * PAGE as u64)?)
    })?;
    let (grown, grow) = meter.measure(|| call(it, Task::Grow, pages, 0))?;
    ensure!(
        grown == pages,
        "{megabytes} MB: the compartment has {grown} pages of {pages}"
    );
    let (mut written, mut sum, mut loaded) = (0, 0, 0);
    if access {
        (_, written) = meter.measure(|| call(it, Task::Write, megabytes * MB, 0))?;
        (sum, loaded) = meter.measure(|| call(it, Task::Read, 0, 0))?;
    }
    let (left, shrunk) = meter.measure(|| call(it, Task::Shrink, 0, 0))?;
    ensure!(left == 0, "{left} pages are left");
    let ((), ended) = meter.measure(|| {
        drop(instance);
        Ok(())
    })?;
    println!("inside: {megabytes} {grow} {written} {loaded} {shrunk} {reserve} {ended}");
    Ok(sum)
}
