// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host side of Donjon: `cargo xtask`.

mod allow;
mod attack;
mod audit;
mod bare;
mod bench;
mod cli;
mod disk;
mod environment;
mod generated;
mod guest;
mod header;
mod image;
mod json;
mod kernel;
mod pack;
mod paths;
mod progress;
mod run;
mod section;
mod selftests;
mod test;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
// The rooms of the machine crate under their own names.
use donjon_machine::{gdb, machine, process, qemu};

use cli::{Arguments, Command, KernelArguments};
use environment::Needs;
use kernel::Variant;

fn main() -> ExitCode {
    match dispatch(&Arguments::parse().command) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: &Command) -> Result<u8> {
    process::end_children_when_told_to_stop()?;
    match command {
        Command::Run(arguments) => run::run(arguments),
        Command::Attack(arguments) => attack::run(arguments),
        Command::Audit(arguments) => audit::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Kselftest(arguments) => selftests::run(arguments),
        Command::Test(arguments) => test::run(arguments),
        Command::Image(command) => image::run(command).map(|()| 0),
        Command::Flash(command) => image::run_flash(command).map(|()| 0),
        Command::Kernel(arguments) => build_kernel(arguments).map(|()| 0),
        Command::AllowList(arguments) => allow::run(arguments),
        Command::Header { check } => header::run(*check).map(|()| 0),
    }
}

fn build_kernel(arguments: &KernelArguments) -> Result<()> {
    environment::prepare(&arguments.host, Needs::default())?;
    let variant = if arguments.native {
        Variant::Native
    } else {
        Variant::Donjon
    };
    if arguments.source {
        println!(
            "{}",
            kernel::source_tree(&arguments.host, variant)?.display()
        );
    } else {
        println!(
            "{}",
            kernel::obtain(&arguments.host, variant)?.image.display()
        );
    }
    Ok(())
}
