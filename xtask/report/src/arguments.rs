// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of `cargo xtask report`.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use donjon_builder::arguments::HostArguments;

use donjon_figures::parts::Part;

/// Arguments of `report`.
#[derive(Args, Debug)]
pub struct ReportArguments {
    /// Where report.html, report.md and the folder data go [default: target/report].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Measure these parts anew, with spaces or commas between them; `all` measures each that is
    /// not complete at this commit, `none` nothing [default: idc and audit if they are missing].
    #[arg(long, value_enum, value_name = "PART", num_args = 1.., value_delimiter = ',')]
    pub run: Vec<Choice>,
    /// Copy the JSON files of this folder into OUT/data first, and measure nothing that --run does
    /// not name.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Write nothing, and compare the instruction counts that two folders of JSON files have;
    /// status 1 if one differs by more than 0.5 %, or one of a fork by more than 1 %.
    #[arg(
        long,
        num_args = 2,
        value_names = ["DIR", "DIR"],
        conflicts_with_all = ["out", "run", "data"]
    )]
    pub compare: Vec<PathBuf>,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// A word behind `--run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Everything that is not complete at this commit.
    All,
    /// Nothing.
    None,
    /// One part, complete or not.
    One(Part),
}

/// Every word.
const CHOICES: [Choice; Part::ALL.len() + 2] = {
    let mut all = [Choice::All; Part::ALL.len() + 2];
    all[1] = Choice::None;
    let mut number = 0;
    while number < Part::ALL.len() {
        all[number + 2] = Choice::One(Part::ALL[number]);
        number += 1;
    }
    all
};

impl ValueEnum for Choice {
    fn value_variants<'a>() -> &'a [Self] {
        &CHOICES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::All => "all",
            Self::None => "none",
            Self::One(part) => part.name(),
        }))
    }
}
