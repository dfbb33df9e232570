// SPDX-License-Identifier: MIT OR Apache-2.0
//! Does a fixed amount of work of each kind and prints how long it took.

use std::io::{Read, Write};
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::areas::{processes, protection, remapping, threads};
use crate::child::Child;
use crate::memory::{Mapping, PAGE, TABLE_SPAN};

const MIB: usize = 1 << 20;
/// What [`huge`] maps.
const HUGE: usize = 64 * MIB;

/// A kind, what a CPU does for it, and how often.
type WorkKind = (&'static str, fn(u64) -> Result<()>, u64);

/// What every CPU does.
const KINDS: [WorkKind; 8] = [
    ("fork", fork, 100),
    ("vm", vm, 20),
    ("mmap", |_| map(), 1000),
    ("mremap", remap, 10),
    ("mprotect", |_| protection::walk_over(512, 1), 10),
    ("clone", |_| threads::beside_each_other(4, 4), 10),
    ("madvise", |_| advise(), 20),
    ("pipe", |_| pipe(), 1),
];

/// Does `times` as much of each kind as is usual on `cpus` CPUs at a time, and prints
/// `work: KIND: N ns`.
pub fn run(cpus: usize, times: u64) -> Result<()> {
    for (name, body, usual) in KINDS {
        let start = Instant::now();
        let workers: Vec<Child> = (0..cpus)
            .map(|_| Child::start(|| (0..usual * times).try_for_each(body)))
            .collect::<Result<_>>()?;
        workers.into_iter().try_for_each(Child::join)?;
        println!("work: {name}: {} ns", start.elapsed().as_nanos());
    }
    Ok(())
}

/// Touches every page of 64 MiB of anonymous memory and gives it back, `times` times.
pub fn huge(times: u64) -> Result<()> {
    // The first time finds memory as the boot has left it.
    touch_and_release()?;
    let start = Instant::now();
    (0..times).try_for_each(|_| touch_and_release())?;
    let each = start.elapsed().as_nanos() as u64 / times;
    println!("work: huge: {each} ns");
    Ok(())
}

fn touch_and_release() -> Result<()> {
    let memory = Mapping::anonymous(HUGE)?;
    (0..memory.pages()).for_each(|page| memory.write(page * 512, 1));
    Ok(())
}

fn fork(number: u64) -> Result<()> {
    let memory = Mapping::anonymous(MIB)?;
    memory.stamp(0);
    processes::fork_over(&memory, number)
}

fn vm(number: u64) -> Result<()> {
    let memory = Mapping::anonymous(8 * MIB)?;
    memory.stamp(number);
    memory.check(number)
}

fn map() -> Result<()> {
    let memory = Mapping::reserved(16 * PAGE)?;
    memory.stamp(1);
    Ok(())
}

fn remap(number: u64) -> Result<()> {
    // Workers are processes, so each has the whole address space.
    let place = 0x30_0000_0000 + (number as usize % 64) * 16 * TABLE_SPAN;
    remapping::rotate([place, place + (1 << 40)], TABLE_SPAN, 1, 2)
}

fn advise() -> Result<()> {
    let memory = Mapping::reserved(MIB)?;
    memory.stamp(2);
    memory.advise(libc::MADV_DONTNEED)?;
    ensure!(memory.read(0) == 0, "a page that was given up is not empty");
    memory.stamp(3);
    Ok(())
}

/// A thousand words there and back.
fn pipe() -> Result<()> {
    let (mut from_child, mut to_parent) = std::io::pipe()?;
    let (mut from_parent, mut to_child) = std::io::pipe()?;
    let mut word = [0; 8];
    let child = Child::start(move || {
        let mut word = [0; 8];
        for _ in 0..1000 {
            from_parent.read_exact(&mut word)?;
            to_parent.write_all(&word)?;
        }
        Ok(())
    })?;
    for _ in 0..1000 {
        to_child.write_all(&word)?;
        from_child.read_exact(&mut word)?;
    }
    child.join()
}
