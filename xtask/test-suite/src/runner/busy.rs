// SPDX-License-Identifier: MIT OR Apache-2.0
//! A load on the host's CPUs, for finding tests that fail by chance: what waits for a CPU gets it
//! late, and at moments that nothing keeps step with.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Threads for each CPU of the host.
const THREADS: usize = 2;
/// Longest time that a thread computes, and then sleeps, in milliseconds.
const BUSY: u64 = 200;
const IDLE: u64 = 50;

/// Threads that compute until this value is dropped.
pub struct Busy {
    ends: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    /// Starts them.
    pub fn start() -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let cpus = thread::available_parallelism().map_or(1, Into::into);
        let threads = (1..=cpus * THREADS).map(|seed| {
            let ends = Arc::clone(&ends);
            thread::spawn(move || compute(&ends, seed as u64))
        });
        Self {
            threads: threads.collect(),
            ends,
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

fn compute(ends: &AtomicBool, seed: u64) {
    let mut state = seed;
    // Xorshift: another length each time.
    let mut below = |most: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Duration::from_millis(state % most)
    };
    while !ends.load(Ordering::Relaxed) {
        let end = Instant::now() + below(BUSY);
        while Instant::now() < end && !ends.load(Ordering::Relaxed) {
            spin_loop();
        }
        thread::sleep(below(IDLE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_ends_with_its_value() {
        let load = Busy::start();
        let ends = Arc::clone(&load.ends);
        // One for each thread, one here and the load's own.
        assert_eq!(Arc::strong_count(&ends), load.threads.len() + 2);
        assert!(load.threads.len() >= THREADS);
        drop(load);
        assert_eq!(Arc::strong_count(&ends), 1, "a thread goes on");
    }
}
