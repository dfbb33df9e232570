// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of `cargo xtask allow-list`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `allow-list`.
#[derive(Args, Debug)]
pub struct AllowListArguments {
    /// Only say whether the generated files are current; with a file, only whether it is clean.
    #[arg(long)]
    pub check: bool,
    /// List every instruction in a linked kernel's or module's code that the list decides.
    #[arg(long, value_name = "FILE")]
    pub vmlinux: Option<PathBuf>,
}
