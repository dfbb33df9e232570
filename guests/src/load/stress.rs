// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a mixture of all areas for a given time.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::areas::{bpf, modules, processes, protection, remapping, threads};
use crate::child::Child;
use crate::memory::{Mapping, PAGE, TABLE_SPAN};
use crate::pool::Pool;

/// One kind of work.
type Work = fn(&Mapping, u64) -> Result<()>;

/// The kinds and their names.
const MIXTURE: [(&str, Work); 8] = [
    ("fork", |memory, number| {
        processes::fork_over(memory, number)
    }),
    ("exec", |_, _| processes::exec()),
    ("mmap", map_and_unmap),
    ("mprotect", |_, number| {
        protection::walk_over(40 + number as usize % 600, 1)
    }),
    ("mremap", |_, number| {
        let place = 0x30_0000_0000 + (number as usize % 64) * 16 * TABLE_SPAN;
        remapping::rotate([place, place + (1 << 40)], TABLE_SPAN, 1, 2)
    }),
    ("threads", |_, _| threads::beside_each_other(4, 4)),
    ("bpf", |_, number| {
        bpf::load_and_run(3, 20 + number as usize % 400)
    }),
    ("modules", |_, number| modules::load_one(number)),
];

/// Works on `cpus` CPUs for `duration`; every worker checks its own memory as it goes, and in
/// the end no table is left over.
pub fn run(duration: Duration, cpus: usize) -> Result<()> {
    let before = Pool::read()?;
    let deadline = Instant::now() + duration;
    let counts = Mapping::shared(PAGE)?;
    let workers: Vec<Child> = (0..cpus)
        .map(|worker| Child::start(|| work(worker, deadline, &counts)))
        .collect::<Result<_>>()?;
    let results: Vec<Result<()>> = workers.into_iter().map(Child::join).collect();
    for (worker, result) in results.into_iter().enumerate() {
        result.with_context(|| format!("worker {worker}"))?;
    }
    for (number, (name, _)) in MIXTURE.iter().enumerate() {
        let total: u64 = (0..cpus)
            .map(|it| counts.read(it * MIXTURE.len() + number))
            .sum();
        println!("stress: {name}: {total}");
        ensure!(total > 0, "no {name} in all that time");
    }
    before.map_or(Ok(()), |before| before.has_come_back())
}

fn work(worker: usize, deadline: Instant, counts: &Mapping) -> Result<()> {
    let memory = Mapping::anonymous(1 << 20)?;
    memory.stamp(0);
    let mut state = worker as u64 * 0x9e37_79b9 + 1;
    while Instant::now() < deadline {
        // Marsaglia's xorshift: each worker has its own sequence, the same in every run.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let kind = (state >> 33) as usize % MIXTURE.len();
        let (name, body) = MIXTURE[kind];
        body(&memory, state >> 40).with_context(|| format!("{name} {:#x}", state >> 40))?;
        let word = worker * MIXTURE.len() + kind;
        counts.write(word, counts.read(word) + 1);
    }
    memory.check(0)
}

fn map_and_unmap(memory: &Mapping, number: u64) -> Result<()> {
    let pages = 1 + number as usize % 700;
    let fresh = Mapping::anonymous(pages * PAGE)?;
    ensure!(
        (0..pages).all(|page| fresh.read(page * 512 + number as usize % 512) == 0),
        "a new page is not empty"
    );
    fresh.stamp(number);
    memory.check(0)?;
    fresh.check(number)
}
