// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host side of Donjon: `cargo xtask`.

mod bare;
mod cli;
mod environment;
mod guest;
mod header;
mod kernel;
mod machine;
mod pack;
mod paths;
mod process;
mod progress;
mod qemu;
mod run;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use cli::{Arguments, Command};

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
        Command::Header { check } => header::run(*check).map(|()| 0),
    }
}
