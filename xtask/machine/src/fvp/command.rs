// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model's command line, and the files that it reads.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::parameters::FIRMWARE;
use super::tree::{self, Machine};
use super::{Fvp, Parts};
use crate::qemu::scratch::Scratch;

/// Where the image is; BL31 is built with this address.
pub const IMAGE: u64 = 0x8020_0000;
/// Where the device tree is; BL31 is built with this address.
pub const TREE: u64 = 0x8800_0000;
/// Where the initial ramdisk is.
const RAMDISK: u64 = 0x8820_0000;

impl Fvp {
    /// The command, and the directory that has its files.
    pub(super) fn command(&self, parts: &Parts<'_>, words: &str) -> Result<(Command, Scratch)> {
        let scratch = Scratch::new()?;
        let ramdisk_end = RAMDISK + parts.initramfs.len() as u64;
        ensure!(
            ramdisk_end <= tree::RAM + self.memory,
            "an initial ramdisk of {} MiB does not fit: it starts at {RAMDISK:#x}, and --memory \
             ends before its end",
            parts.initramfs.len() >> 20
        );
        let machine = Machine {
            cpus: self.cpus,
            memory: self.memory,
            ramdisk: (RAMDISK, ramdisk_end),
            words: format!("console=ttyAMA0 {words} {}", self.append)
                .trim()
                .to_owned(),
        };
        let found = fs::read(parts.tree)
            .with_context(|| format!("reading the device tree {}", parts.tree.display()))?;
        let tree = scratch.join("tree.dtb");
        fs::write(&tree, tree::for_machine(&found, &machine)?)?;
        let ramdisk = scratch.join("initrd");
        fs::write(&ramdisk, parts.initramfs)?;

        let mut command = Command::new(&self.model.program);
        for parameter in self.model.parameters(self.cpus)? {
            command.args(["-C", &parameter]);
        }
        if let Some(disk) = parts.disk {
            // The model writes to its disk; the user's file stays as it is.
            let copy = scratch.join("disk");
            fs::copy(disk, &copy).with_context(|| format!("copying {}", disk.display()))?;
            let parameter = format!("bp.virtioblockdevice.image_path={}", copy.display());
            command.args(["-C", &parameter]);
        }
        let image = fs::canonicalize(parts.image)
            .with_context(|| format!("finding {}", parts.image.display()))?;
        for (file, address) in [
            (self.firmware.as_path(), FIRMWARE),
            (&image, IMAGE),
            (&tree, TREE),
            (&ramdisk, RAMDISK),
        ] {
            command.args(["--data", &data(file, address)?]);
        }
        Ok((command, scratch))
    }
}

fn data(file: &Path, address: u64) -> Result<String> {
    let file = file.to_string_lossy();
    ensure!(
        !file.contains('@'),
        "the model takes no file with `@` in its path: {file}"
    );
    Ok(format!("cluster0.cpu0={file}@{address:#x}"))
}
