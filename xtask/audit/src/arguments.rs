// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of `cargo xtask audit`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use donjon_builder::arguments::HostArguments;
use donjon_machine::arguments::MachineArguments;

/// Arguments of `audit`.
#[derive(Args, Debug)]
pub struct AuditArguments {
    /// The machine.
    #[command(flatten)]
    pub machine: MachineArguments,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
    /// When to look: `boot`, `load`, or a number of seconds after boot or into the load [default:
    /// boot].
    #[arg(long, value_name = "MOMENT", num_args = 1..)]
    pub at: Vec<Moment>,
    /// Also write what was found to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Seconds that the guest may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub timeout: u64,
}

/// When an audit looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// At the end of boot.
    Boot,
    /// While processes come and go on all CPUs.
    Load,
    /// A number of seconds later.
    Seconds(u64),
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "boot" => Ok(Self::Boot),
            "load" => Ok(Self::Load),
            _ => text
                .parse()
                .map(Self::Seconds)
                .map_err(|_| "write `boot`, `load` or a number of seconds".to_owned()),
        }
    }
}
