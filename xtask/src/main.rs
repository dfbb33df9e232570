// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host side of Donjon: `cargo xtask`.

mod cli;
mod header;
mod paths;

use std::process::ExitCode;

use clap::Parser;

use cli::{Arguments, Command};

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Header { check } => header::run(check).map(|()| 0),
    };
    match result {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
