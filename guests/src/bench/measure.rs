// SPDX-License-Identifier: MIT OR Apache-2.0
//! Takes the samples of a measurement.

use std::arch::asm;
use std::process::ExitCode;

use crate::counter::CycleCounter;

const SAMPLES: usize = 100;
const WARM_UP: usize = 100;
/// Calls per sample of wall time: the timer is too coarse for one.
const BATCH: u64 = 1000;

/// Measures and prints.
pub fn run(wall: bool) -> ExitCode {
    if wall {
        print(&wall_samples());
        return ExitCode::SUCCESS;
    }
    // Kept open: the kernel lets user space read the counter as long as the event lives.
    let _counter = match CycleCounter::open() {
        Ok(counter) => counter,
        Err(error) => {
            eprintln!("donjon-bench: no cycle counter in user space: {error}");
            return ExitCode::FAILURE;
        }
    };
    let empty = (0..WARM_UP).map(|_| empty_measurement()).min().unwrap_or(0);
    eprintln!("donjon-bench: an empty measurement takes {empty}, subtracted from every sample");
    for _ in 0..WARM_UP {
        system_call_measurement();
    }
    let samples: Vec<f64> = (0..SAMPLES)
        .map(|_| (system_call_measurement() - empty) as f64)
        .collect();
    print(&samples);
    ExitCode::SUCCESS
}

fn print(samples: &[f64]) {
    let words: Vec<String> = samples.iter().map(f64::to_string).collect();
    println!("null_syscall: {}", words.join(" "));
}

fn wall_samples() -> Vec<f64> {
    let batch = || {
        let start = virtual_count();
        for _ in 0..BATCH {
            // SAFETY: getppid has no preconditions.
            unsafe { libc::getppid() };
        }
        (virtual_count() - start) as f64 * 1e9 / frequency() as f64 / BATCH as f64
    };
    batch();
    (0..SAMPLES).map(|_| batch()).collect()
}

fn empty_measurement() -> u64 {
    let (start, end): (u64, u64);
    // SAFETY: reads a counter that the open event makes readable; no memory, no stack.
    unsafe {
        asm!(
            "mrs {start}, pmccntr_el0",
            "mrs {end}, pmccntr_el0",
            start = out(reg) start,
            end = out(reg) end,
            options(nomem, nostack),
        );
    }
    end.wrapping_sub(start)
}

fn system_call_measurement() -> u64 {
    let (start, end): (u64, u64);
    // SAFETY: getppid reads and writes no memory of ours; Linux preserves everything but x0.
    unsafe {
        asm!(
            "mrs {start}, pmccntr_el0",
            "svc 0",
            "mrs {end}, pmccntr_el0",
            start = out(reg) start,
            end = out(reg) end,
            in("x8") libc::SYS_getppid,
            lateout("x0") _,
            options(nostack),
        );
    }
    end.wrapping_sub(start)
}

fn virtual_count() -> u64 {
    let count: u64;
    // SAFETY: Linux lets user space read the virtual counter.
    unsafe { asm!("isb", "mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack)) };
    count
}

fn frequency() -> u64 {
    let frequency: u64;
    // SAFETY: Linux lets user space read the frequency of the virtual counter.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) frequency, options(nomem, nostack)) };
    frequency
}
