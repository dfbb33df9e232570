// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that map, protect and unmap in one address space at the same time.

use std::sync::{Barrier, Mutex};
use std::thread;

use anyhow::{Result, anyhow, ensure};

use crate::memory::{Mapping, PAGE};

const THREADS: usize = 12;

/// Pages that a thread gives up at once. Each is an invalidation on all CPUs, which is slow in an
/// emulator with more CPUs than its host.
const GIVEN_UP: usize = 4;
/// Threads that give pages up, and how often each does.
const GIVING_UP: usize = 4;
const TIMES: u64 = 60;

/// Own mappings, a lock for all, and one shared table whose pages belong to one thread each.
pub fn threads() -> Result<()> {
    beside_each_other(THREADS, 40)
}

/// `threads` threads doing `rounds` rounds.
pub fn beside_each_other(threads: usize, rounds: u64) -> Result<()> {
    let common = Mapping::anonymous(threads * 4096)?;
    let total = Mutex::new(0u64);
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|page| {
                let (common, total, barrier) = (&common, &total, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    for round in 0..rounds {
                        one_round(common, page, round)?;
                        *total.lock().map_err(|_| anyhow!("a thread panicked"))? += round;
                    }
                    anyhow::Ok(())
                })
            })
            .collect();
        for handle in handles {
            handle.join().map_err(|_| anyhow!("a thread panicked"))??;
        }
        anyhow::Ok(())
    })?;
    let expected = threads as u64 * (0..rounds).sum::<u64>();
    let found = total
        .into_inner()
        .map_err(|_| anyhow!("a thread panicked"))?;
    ensure!(found == expected, "the sum is {found}, not {expected}");
    Ok(())
}

fn one_round(common: &Mapping, page: usize, round: u64) -> Result<()> {
    let seed = page as u64 * 1000 + round;
    common.stamp_page(page, seed);
    let own = Mapping::anonymous(16 * 4096)?;
    own.stamp(seed);
    common.protect(page, 1, libc::PROT_READ)?;
    own.protect(0, 8, libc::PROT_READ)?;
    own.check(seed)?;
    common.check_page(page, seed)?;
    common.protect(page, 1, libc::PROT_READ | libc::PROT_WRITE)
}

/// Threads give up pages of one address space at the same time, a memory each. What was given up
/// is gone at once: the next load sees zeros, or the page is read that another process has by now.
pub fn giving_up() -> Result<()> {
    let barrier = Barrier::new(GIVING_UP);
    thread::scope(|scope| {
        let handles: Vec<_> = (0..GIVING_UP as u64)
            .map(|thread| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let memory = Mapping::anonymous(GIVEN_UP * PAGE)?;
                    let mut left = Vec::new();
                    for time in 0..TIMES {
                        memory.stamp(thread * TIMES + time);
                        barrier.wait();
                        memory.advise(libc::MADV_DONTNEED)?;
                        let words = (0..memory.pages()).map(|page| page * PAGE / 8);
                        left.extend(words.map(|word| memory.read(word)).find(|it| *it != 0));
                    }
                    ensure!(left.is_empty(), "pages given up still hold {left:x?}");
                    anyhow::Ok(())
                })
            })
            .collect();
        for handle in handles {
            handle.join().map_err(|_| anyhow!("a thread panicked"))??;
        }
        anyhow::Ok(())
    })
}
