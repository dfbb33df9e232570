// SPDX-License-Identifier: MIT OR Apache-2.0
//! Debian's own configuration of Linux for arm64.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use donjon_machine::process;

use crate::guest;

const PACKAGE: &str = "linux-config-6.12:arm64";
const COMPRESSED: &str = "usr/src/linux-config-6.12/config.arm64_none_arm64.xz";

/// The file, downloaded if the cache does not have it.
///
/// # Errors
///
/// If the package is not to be had, or the cache cannot be written.
pub fn configuration() -> Result<PathBuf> {
    let root = guest::obtain_libraries("linux-config", &[PACKAGE], COMPRESSED)
        .context("Debian's configuration is in the archive that has linux-source-6.12")?;
    let file = root.join("config");
    if file.exists() {
        return Ok(file);
    }
    let text = process::output(
        Command::new("xz")
            .args(["--decompress", "--stdout"])
            .arg(root.join(COMPRESSED)),
    )?;
    // Renamed when it is whole: another command may read it.
    let unfinished = root.join(format!("config.{}", std::process::id()));
    fs::write(&unfinished, text)
        .and_then(|()| fs::rename(&unfinished, &file))
        .with_context(|| format!("writing {}", file.display()))?;
    Ok(file)
}
