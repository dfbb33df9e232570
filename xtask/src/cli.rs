// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line.

use clap::{Parser, Subcommand};

/// Builds, runs, measures and tests Donjon.
#[derive(Parser, Debug)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Write the C header for Linux and the call table of docs/idc.md from inner-domain/abi.
    Header {
        /// Only say whether they are current.
        #[arg(long)]
        check: bool,
    },
}
