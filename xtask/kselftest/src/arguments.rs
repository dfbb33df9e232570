// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of `cargo xtask kselftest`.

use std::path::PathBuf;

use clap::Args;
use donjon_builder::arguments::HostArguments;
use donjon_machine::arguments::Switch;

/// Arguments of `kselftest`.
#[derive(Args, Debug)]
pub struct KselftestArguments {
    /// Run the programs whose names contain one of these.
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Only list the names.
    #[arg(long)]
    pub list: bool,
    /// What is compared with the native kernel; `none` shows the native kernel alone.
    #[arg(long, value_enum, default_value = "asid")]
    pub switch: Switch,
    /// CPU model.
    #[arg(long, default_value = "cortex-a57")]
    pub cpu: String,
    /// Number of CPUs.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub cpus: u32,
    /// Also write the results to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}
