// SPDX-License-Identifier: MIT OR Apache-2.0
//! The latencies that LMBench 3 defines, for where LMBench itself is not to be had.
//!
//! The name by which the program is called says what it measures: `lat_syscall`, `lat_sig`,
//! `lat_pipe`, `lat_unix`, `lat_ctx`, `lat_pagefault`, `lat_proc` or `lat_mmap`. Arguments and
//! lines are LMBench's: `lat_syscall -N 3 null` prints `Simple syscall: 0.2300 microseconds` on
//! standard error. What is timed is what LMBench times; no line of it is used here.

mod kernel;
mod memory;
mod options;
mod process;
mod ring;
mod signal;
mod simple;
mod timing;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use options::Options;

/// Exit status: 0 if something was measured.
fn main() -> ExitCode {
    let mut arguments = std::env::args();
    let called = arguments.next().unwrap_or_default();
    let name = Path::new(&called).file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    if name == "hello" {
        // What is executed where a program is executed. Its standard output is closed.
        kernel::write(1, b"Hello world\n");
        return ExitCode::SUCCESS;
    }
    match measure(&name, arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure(name: &str, arguments: impl Iterator<Item = String>) -> Result<()> {
    let options = Options::read(arguments)?;
    kernel::register_sequences();
    let words: Vec<&str> = options.words.iter().map(String::as_str).collect();
    let plan = &options.plan;
    match (name, &words[..]) {
        ("lat_syscall", [what]) => simple::run(plan, what, "/usr/include/sys/types.h"),
        ("lat_syscall", [what, file]) => simple::run(plan, what, file),
        ("lat_sig", ["install"]) => signal::install(plan),
        ("lat_sig", ["catch"]) => signal::catch(plan),
        ("lat_sig", ["prot", file]) => signal::protection(plan, file),
        ("lat_pipe", []) => ring::pipes(plan),
        ("lat_unix", []) => ring::sockets(plan),
        ("lat_ctx", [_, ..]) => {
            let numbers: Result<Vec<usize>, _> = words.iter().map(|it| it.parse()).collect();
            ring::switches(plan, &numbers.context("numbers of processes")?)
        }
        ("lat_pagefault", [file]) => memory::faults(plan, file),
        ("lat_mmap", [size, file]) => memory::mappings(plan, size, file),
        ("lat_proc", [what]) => process::run(plan, what),
        _ => bail!("no measurement has this name and {} arguments", words.len()),
    }
}
