// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures operations on memory of a given size, and how long the boot took.
//!
//! `donjon-scale PAGES OPERATION…` prints `sample: OPERATION PAGES INSTRUCTIONS` for each time that
//! an operation was measured. The operation `sparse` writes again to pages that it has written to
//! before, one in each 2 MiB, so that each has a table of its own. `donjon-scale --inside PAGES
//! OPERATION…` prints `inside: OPERATION PAGES CALLS INSTRUCTIONS`: calls of the inner domain, and
//! instructions of these. It makes the inner domain measure every call until the next boot, and
//! calls longer, so it comes last. Run as the first process of a machine, the program writes down
//! when it began, and executes `/init`.

mod boot;
mod meter;
mod operations;

use std::process::ExitCode;

/// Exit status: 0 if everything was measured.
fn main() -> ExitCode {
    let start = boot::virtual_count();
    let result = if std::process::id() == 1 {
        boot::run(start)
    } else {
        operations::run(&std::env::args().skip(1).collect::<Vec<_>>())
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("donjon-scale: {error:#}");
            ExitCode::FAILURE
        }
    }
}
