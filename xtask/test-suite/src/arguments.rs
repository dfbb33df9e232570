// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of `cargo xtask test`.

use clap::Args;
use donjon_builder::arguments::HostArguments;

/// Arguments of `test`.
#[derive(Args, Debug)]
pub struct TestArguments {
    /// Run the tests whose names contain one of these.
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// Only list the names.
    #[arg(long)]
    pub list: bool,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}
