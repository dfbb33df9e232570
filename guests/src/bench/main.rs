// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures the null system call from user space, 100 samples.
//!
//! By default in instructions: PMCCNTR_EL0 under QEMU's `-icount shift=0`, where every
//! instruction takes one cycle. The cost of an empty measurement is subtracted, and said. With
//! `--wall` in nanoseconds of CNTVCT_EL0, each sample the mean of a batch. With `calls` it counts
//! calls into the inner domain per operation instead, and with `longest COMMAND` it says how long
//! the longest call of each function was while the command ran.

mod calls;
mod counter;
mod longest;
mod measure;

/// Exit status: 0 if the line was printed.
fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["calls"] => calls::run(),
        ["longest", command] => longest::run(command),
        [] => measure::run(false),
        ["--wall"] => measure::run(true),
        _ => {
            eprintln!("usage: donjon-bench [--wall | calls | longest COMMAND]");
            std::process::ExitCode::FAILURE
        }
    }
}
