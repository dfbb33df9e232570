// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files for the Juno r1 board: a boot image, the kernel's device tree, an initramfs, and a text
//! that says how the board's firmware, U-Boot and UEFI start them.

use std::path::Path;

use anyhow::Result;

use crate::output;

/// Name of the boot image.
pub const IMAGE: &str = "Image";
/// Name of the device tree, as in the kernel's build.
pub const TREE: &str = "juno-r1.dtb";
/// Name of the archive of guest programs.
pub const INITRAMFS: &str = "initramfs.cpio";
/// Name of the text.
pub const TEXT: &str = "README.txt";

/// What goes to the board.
pub struct Parts<'a> {
    /// The boot image: boot stage, inner domain and Linux.
    pub image: &'a [u8],
    /// The device tree.
    pub tree: &'a [u8],
    /// Archive (format `newc`) of the guest programs.
    pub initramfs: &'a [u8],
}

/// Writes the files to `directory`, each of them whole or not at all.
///
/// # Errors
///
/// If a file cannot be written; the message says what to do when there is no room.
pub fn write(parts: &Parts<'_>, directory: &Path) -> Result<()> {
    let files = [
        (IMAGE, parts.image),
        (TREE, parts.tree),
        (INITRAMFS, parts.initramfs),
        (TEXT, include_bytes!("juno.txt").as_slice()),
    ];
    output::write_files(directory, &files)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_text_names_every_file() {
        let text = include_str!("juno.txt");
        for name in [IMAGE, TREE, INITRAMFS] {
            assert!(text.contains(name), "{name}");
        }
    }

    #[test]
    fn the_directory_has_the_files_and_nothing_else() {
        let directory = tempfile::tempdir().expect("directory");
        let place = directory.path().join("juno");
        let parts = Parts {
            image: b"image",
            tree: b"tree",
            initramfs: b"archive",
        };
        write(&parts, &place).expect("files");
        write(&parts, &place).expect("files again");
        assert_eq!(fs::read(place.join(TREE)).expect("tree"), b"tree");
        assert_eq!(fs::read_dir(&place).expect("directory").count(), 4);
    }
}
