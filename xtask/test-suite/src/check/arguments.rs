// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of `cargo xtask check`.

use clap::Args;
use donjon_builder::arguments::HostArguments;

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct CheckArguments {
    /// Write the generated files first.
    #[arg(long)]
    pub write: bool,
    /// Fail also where something could not be checked, for example without a network.
    #[arg(long)]
    pub strict: bool,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}
