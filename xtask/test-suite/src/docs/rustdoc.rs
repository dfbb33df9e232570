// SPDX-License-Identifier: MIT OR Apache-2.0
//! The documentation of all crates, with warnings as errors: a link that leads nowhere, for
//! example.

use std::process::Command;

use anyhow::Result;
use donjon_builder::environment::BARE_TARGET;
use donjon_machine::{paths, process};

/// Crates of the host, and those of the inner domain, which are for no operating system.
pub fn check() -> Result<()> {
    document("rustdoc", &[])?;
    let target = format!("--target={BARE_TARGET}");
    let bare = [
        "--package=donjon-image",
        "--package=donjon-boot",
        "--package=donjon-hal",
        "--features=donjon-boot/bare,donjon-image/switch-asid",
        &target,
    ];
    document("rustdoc-bare", &bare)
}

fn document(log: &str, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("cargo");
    command
        .args(["doc", "--no-deps", "--quiet"])
        .args(arguments)
        .current_dir(paths::root())
        .env("CARGO_TERM_COLOR", "never")
        .env("RUSTDOCFLAGS", "--deny=warnings");
    let log = paths::in_root(format!("target/logs/{log}.log"));
    process::logged(&mut command, &log, |_| ())
}
