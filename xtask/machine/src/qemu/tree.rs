// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device tree that QEMU hands to what it starts.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::Boot;
use super::scratch::Scratch;
use crate::process;
use crate::tools::QEMU;

/// Asks QEMU for the device tree of the machine that `boot` starts: QEMU's own, or the given one
/// with what QEMU adds to it.
///
/// # Errors
///
/// If QEMU cannot be started, or writes no device tree.
pub fn of(boot: &Boot) -> Result<Vec<u8>> {
    let scratch = Scratch::new()?;
    let path = scratch.join("tree");
    let mut arguments = boot.machine.qemu_arguments();
    // The first two are -M and its value.
    let board = arguments
        .get_mut(1)
        .context("QEMU's arguments have no -M")?;
    board.push_str(&format!(",dumpdtb={}", path.display()));
    let mut command = Command::new(QEMU);
    command.args(arguments);
    if let Some(tree) = &boot.device_tree {
        command.arg("-dtb").arg(tree);
        // A board looks at its tree when there is something to start.
        command.arg("-kernel").arg(&boot.image);
    }
    process::both(&mut command)?;
    fs::read(&path).context("QEMU wrote no device tree")
}
