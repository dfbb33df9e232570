// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads every area of Linux that the inner domain has a hand in, and checks that memory holds
//! what was written and calls do what they are for.
//!
//! `donjon-load [AREA…]` runs areas, all of them by default, one line each: `load: AREA: ok`,
//! `skipped: why` or `failed: why`. `donjon-load list` names them.
//! `donjon-load stress [--seconds N] [--cpus N]` mixes the heavy ones.
//! `donjon-load work [--times N] [--cpus N]` times a fixed amount of each kind of work, and
//! `donjon-load huge [--times N]` 64 MiB of memory.
//! `donjon-load filters [--times N] [--processes N]` leaves processes of a user without a
//! capability behind, which hold filters on system calls.

mod areas;
mod child;
mod filters;
mod pool;
mod runner;
mod stress;
mod work;

use donjon_guests::memory;

/// Exit status: 0 if nothing failed.
fn main() -> std::process::ExitCode {
    runner::run(&std::env::args().skip(1).collect::<Vec<_>>())
}
