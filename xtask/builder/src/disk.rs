// SPDX-License-Identifier: MIT OR Apache-2.0
//! Images of disks for guests.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use donjon_machine::process;
use donjon_machine::tools::MKE2FS;

/// Makes an image with an ext4 of `mebibytes`, filled from `directory` if there is one.
pub fn ext4(image: &Path, mebibytes: u32, directory: Option<&Path>) -> Result<()> {
    let mut command = Command::new(MKE2FS);
    command.args(["-q", "-F", "-t", "ext4"]);
    if let Some(directory) = directory {
        command.arg("-d").arg(directory);
    }
    command.arg(image).arg(format!("{mebibytes}M"));
    process::output(&mut command).map(|_| ())
}
