// SPDX-License-Identifier: MIT OR Apache-2.0
//! perf: counting and sampling.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};

use anyhow::{Context, Result, ensure};
use donjon_guests::perf::{self, Attributes, CYCLES, HARDWARE, SOFTWARE, Scope};

use crate::memory::{Mapping, PAGE};

const CPU_CLOCK: u64 = 0;
const PAGE_FAULTS: u64 = 2;
const CONTEXT_SWITCHES: u64 = 3;
/// `PERF_SAMPLE_IP`.
const SAMPLE_ADDRESS: u64 = 1;
/// `PERF_RECORD_SAMPLE`.
const RECORD_SAMPLE: u32 = 9;
/// Words of the control page that say how far the kernel has written.
const DATA_HEAD: usize = 1024 / 8;

fn open(kind: u32, config: u64, period: u64) -> Result<File> {
    let attributes = Attributes {
        kind,
        config,
        sample_period: period,
        sample_type: SAMPLE_ADDRESS,
        ..Attributes::default()
    };
    let event = perf::open(attributes, Scope::ThisThread).context("perf_event_open")?;
    Ok(event.into())
}

fn count(mut event: &File) -> Result<u64> {
    let mut word = [0u8; 8];
    event.read_exact(&mut word)?;
    Ok(u64::from_le_bytes(word))
}

fn work() -> u64 {
    (0..2_000_000u64).fold(1, |sum, it| std::hint::black_box(sum.wrapping_mul(3) ^ it))
}

/// Cycles, page faults and context switches of this thread.
pub fn counters() -> Result<()> {
    let cycles = open(HARDWARE, CYCLES, 0).context("cycles")?;
    let faults = open(SOFTWARE, PAGE_FAULTS, 0).context("page faults")?;
    let switches = open(SOFTWARE, CONTEXT_SWITCHES, 0).context("context switches")?;
    let before = count(&cycles)?;
    work();
    let after = count(&cycles)?;
    ensure!(
        after > before + 1_000_000,
        "{} cycles for the work",
        after - before
    );
    let before = count(&faults)?;
    Mapping::anonymous(300 * PAGE)?.stamp(1);
    let fresh = count(&faults)? - before;
    ensure!((300..400).contains(&fresh), "{fresh} faults for 300 pages");
    let before = count(&switches)?;
    for _ in 0..20 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let slept = count(&switches)? - before;
    // A sleep whose timer has rung before the switch needs none.
    ensure!(slept >= 10, "{slept} context switches for 20 sleeps");
    Ok(())
}

/// Samples arrive in the ring that we map, for a timer and for overflows of the cycle counter.
pub fn samples() -> Result<()> {
    for (kind, config, period) in [
        (SOFTWARE, CPU_CLOCK, 1_000_000),
        (HARDWARE, CYCLES, 4_000_000),
    ] {
        let event = open(kind, config, period)?;
        let ring = Mapping::of_file(event.as_fd(), 9 * PAGE).context("mapping the ring")?;
        let mut rounds = 0;
        while ring.read(DATA_HEAD) == 0 && rounds < 200 {
            work();
            rounds += 1;
        }
        let head = ring.read(DATA_HEAD);
        ensure!(head > 0, "no sample of event {kind}:{config}");
        let header = ring.read(512);
        ensure!(
            header as u32 == RECORD_SAMPLE && ring.read(513) != 0,
            "the first record is {header:#x}"
        );
        // SAFETY: stops the event.
        unsafe { libc::ioctl(event.as_raw_fd(), 0x2401, 0) };
    }
    Ok(())
}
