// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device tree that QEMU makes for a machine.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::scratch::Scratch;
use crate::machine::Machine;
use crate::process;
use crate::tools::QEMU;

/// Asks QEMU for the device tree of `machine`.
///
/// # Errors
///
/// If QEMU cannot be started, or writes no device tree.
pub fn of(machine: &Machine) -> Result<Vec<u8>> {
    let scratch = Scratch::new()?;
    let path = scratch.join("tree");
    let mut arguments = machine.qemu_arguments();
    // The first two are -M and its value.
    let board = arguments
        .get_mut(1)
        .context("QEMU's arguments have no -M")?;
    board.push_str(&format!(",dumpdtb={}", path.display()));
    process::both(Command::new(QEMU).args(arguments))?;
    fs::read(&path).context("QEMU wrote no device tree")
}
