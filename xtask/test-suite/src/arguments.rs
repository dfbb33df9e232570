// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of `cargo xtask test`.

use clap::Args;
use donjon_builder::arguments::HostArguments;

use crate::test::Tier;

/// Arguments of `test`.
#[derive(Args, Debug)]
pub struct TestArguments {
    /// Run the tests whose names contain one of these.
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// Run each of the tests N times beside a load on the host's CPUs, and say how many runs
    /// failed.
    #[arg(
        long,
        value_name = "N",
        requires = "filters",
        conflicts_with = "list",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub repeat: Option<u32>,
    /// Run the tests of one tier: check (`cargo xtask check` alone), quick (without a guest), full
    /// (the others of the usual run), long (by name or by this alone).
    #[arg(long, value_enum, hide_possible_values = true)]
    pub tier: Option<Tier>,
    /// Only list the names.
    #[arg(long)]
    pub list: bool,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}
