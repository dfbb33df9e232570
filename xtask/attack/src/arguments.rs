// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of `cargo xtask attack`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use donjon_builder::arguments::HostArguments;
use donjon_machine::arguments::{Switch, VIRT};
use donjon_machine::gem5::Gem5Arguments;

/// Arguments of `attack`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct AttackArguments {
    /// What has options of its own.
    #[command(subcommand)]
    pub single: Option<AttackCommand>,
    /// Only these attacks, with spaces or commas between them.
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    pub only: Vec<String>,
    /// Only say which there are.
    #[arg(long)]
    pub list: bool,
    /// Also write the results to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// How the inner domain is entered.
    #[arg(long, value_enum, default_value = "asid")]
    pub switch: Switch,
    /// Machine, a recipe in qemu/. On a machine other than virt, attacks that need a CPU model of
    /// their own or one CPU are left out, and so are the runs through the gate.
    #[arg(long, default_value = VIRT)]
    pub machine: String,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// Subcommands of `attack`.
#[derive(Subcommand, Debug)]
pub enum AttackCommand {
    /// Start the CPU at every word of gate and vectors with hostile registers and forged values,
    /// and look at each instruction; status 1 if one escapes.
    Gate(GateArguments),
    /// Use TLB entries that should not be there, in gem5, whose TLB keeps entries with their ASIDs,
    /// with each protection against it left out once; status 1 if one is not needed or does not
    /// help.
    Stale(StaleArguments),
    /// Write the table of attacks in docs/attacks.md.
    Table {
        /// Only fail if it is not what would be written.
        #[arg(long)]
        check: bool,
    },
}

/// Arguments of `attack stale`.
#[derive(Args, Debug)]
pub struct StaleArguments {
    /// Model of a core: `atomic` has no timing, and the same TLB as the others.
    #[arg(long, value_name = "CORE", default_value = "atomic")]
    pub cpu: String,
    /// Memory of the machine [default: 512M]. Mode `tlbi` invalidates by address where it is in
    /// whole GiB.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Only rows with one of these words in mode, attempt or what is left out.
    #[arg(long, value_name = "WORD", num_args = 1.., value_delimiter = ',')]
    pub only: Vec<String>,
    /// gem5.
    #[command(flatten)]
    pub gem5: Gem5Arguments,
    /// Also write the results to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// Arguments of `attack gate`.
#[derive(Args, Debug)]
pub struct GateArguments {
    /// Switch modes, with spaces or commas between them.
    #[arg(
        long,
        value_enum,
        value_name = "MODE",
        num_args = 1..,
        value_delimiter = ',',
        default_values = ["asid", "strict", "tlbi"]
    )]
    pub modes: Vec<Switch>,
    /// Runs of each mode.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub runs: u64,
    /// Give up the rest of a mode after SECONDS of runs.
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<u64>,
    /// Make the runs of an earlier seed again.
    #[arg(long, value_name = "N", value_parser = number)]
    pub seed: Option<u64>,
    /// Also write what was found to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// A number as it is printed: decimal, or hexadecimal behind 0x.
fn number(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|error| error.to_string())
}
