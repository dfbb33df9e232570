// SPDX-License-Identifier: MIT OR Apache-2.0
//! The version of QEMU.

use std::process::Command;

use anyhow::{Context, Result, bail};
use donjon_machine::machine::Machine;
use donjon_machine::process;

use super::tools::QEMU;

/// Oldest version with what we need; Debian 12's.
const OLDEST: (u32, u32) = (7, 2);

/// Refuses a QEMU that is too old.
pub fn check() -> Result<()> {
    let found = installed()?;
    if found < OLDEST {
        bail!(
            "QEMU {}.{} is too old: {}.{} is the oldest that works (Debian 12 has it in the \
             package qemu-system-arm; see which one PATH finds with `command -v {QEMU}`)",
            found.0,
            found.1,
            OLDEST.0,
            OLDEST.1
        );
    }
    Ok(())
}

/// Refuses a QEMU that does not have the machine.
pub fn check_for(machine: &Machine) -> Result<()> {
    let Some(oldest) = &machine.recipe.minimum_qemu else {
        return Ok(());
    };
    let found = installed()?;
    if number(oldest).is_none_or(|oldest| found < oldest) {
        bail!(
            "QEMU {}.{} has no machine for {}: it needs {oldest} or later (Debian 12 has one in \
             bookworm-backports, Debian 13 in the package qemu-system-arm)",
            found.0,
            found.1,
            machine.recipe.description
        );
    }
    Ok(())
}

fn installed() -> Result<(u32, u32)> {
    let text = process::output(Command::new(QEMU).arg("--version"))?;
    version(&text).with_context(|| {
        format!(
            "`{QEMU} --version` says no version number but: {}",
            text.trim()
        )
    })
}

fn version(text: &str) -> Option<(u32, u32)> {
    number(text.split("version ").nth(1)?)
}

/// The first two parts of a version.
fn number(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn the_version_is_read_from_debian_and_upstream_lines() {
        let debian = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\n";
        assert_eq!(version(debian), Some((7, 2)));
        assert_eq!(version("QEMU emulator version 10.0.2\n"), Some((10, 0)));
        assert_eq!(version("something else"), None);
    }
}
