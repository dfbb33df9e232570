// SPDX-License-Identifier: MIT OR Apache-2.0
//! The longest call of each function, in instructions, while a command runs.

use std::process::{Command, ExitCode};

use donjon_guests::stats::{Column, counters};

use crate::counter::CpuCounter;

/// Runs a command of the shell's and prints a line for each function that was called meanwhile or
/// before.
pub fn run(command: &str) -> ExitCode {
    let longest = || {
        let counter = CpuCounter::start()?;
        // Asking while it runs has calls measured from then on.
        counters(Column::Worst)?;
        let status = Command::new("/bin/sh").args(["-c", command]).status()?;
        let worst = counters(Column::Worst)?;
        drop(counter);
        Ok::<_, std::io::Error>((status, worst))
    };
    match longest() {
        Ok((status, worst)) => {
            let mut worst: Vec<_> = worst.into_iter().filter(|(_, value)| *value != 0).collect();
            worst.sort();
            for (function, instructions) in worst {
                println!("longest {function} {instructions}");
            }
            if status.success() {
                ExitCode::SUCCESS
            } else {
                eprintln!("donjon-bench: the command failed: {status}");
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("donjon-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
