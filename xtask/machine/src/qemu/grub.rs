// SPDX-License-Identifier: MIT OR Apache-2.0
//! A disk from which UEFI starts GRUB, and GRUB the boot image.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use anyhow::{Context, Result};
use fatfs::{FileSystem, FormatVolumeOptions, FsOptions};

/// Where UEFI looks for a program on a disk without a boot entry (UEFI 2.10, 3.5.1.1).
const PROGRAM: &str = "EFI/BOOT/BOOTAA64.EFI";
/// Where Debian's GRUB looks for its script.
const SCRIPT: &str = "EFI/debian/grub.cfg";
/// Room for the tables of the file system, in bytes.
const SPARE: usize = 4 << 20;

/// Writes the disk: one FAT file system without a partition table.
pub fn write_disk(
    disk: &Path,
    grub: &Path,
    image: &Path,
    initrd: &Path,
    words: &str,
) -> Result<()> {
    let read = |path: &Path| fs::read(path).with_context(|| format!("reading {}", path.display()));
    let files = [
        (PROGRAM, read(grub)?),
        ("boot.img", read(image)?),
        ("initrd", read(initrd)?),
        (SCRIPT, script(words).into_bytes()),
    ];
    fs::write(disk, file_system(&files).context("making a disk for GRUB")?)?;
    Ok(())
}

fn script(words: &str) -> String {
    let quoted: Vec<_> = words
        .split_whitespace()
        .map(|word| format!("'{}'", word.replace('\'', r"'\''")))
        .collect();
    format!(
        "linux /boot.img {}\ninitrd /initrd\nboot\n",
        quoted.join(" ")
    )
}

/// A FAT file system with these files.
fn file_system(files: &[(&str, Vec<u8>)]) -> Result<Vec<u8>> {
    let bytes: usize = files.iter().map(|(_, content)| content.len()).sum();
    let size = (bytes + bytes / 16 + SPARE).next_multiple_of(1 << 20);
    let mut disk = Cursor::new(vec![0; size]);
    fatfs::format_volume(&mut disk, FormatVolumeOptions::new())?;
    disk.set_position(0);
    {
        let system = FileSystem::new(&mut disk, FsOptions::new())?;
        let root = system.root_dir();
        for (path, content) in files {
            for (end, _) in path.match_indices('/') {
                root.create_dir(&path[..end])?;
            }
            root.create_file(path)?.write_all(content)?;
        }
    }
    Ok(disk.into_inner())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn files_read_back() {
        let content: Vec<u8> = (0..3u32 << 18).map(|it| it as u8).collect();
        let files = [(PROGRAM, content), (SCRIPT, b"boot".to_vec())];
        let disk = file_system(&files).expect("a file system");
        let system = FileSystem::new(Cursor::new(disk), FsOptions::new()).expect("readable");
        for (path, content) in files {
            let mut found = Vec::new();
            let mut file = system.root_dir().open_file(path).expect("there");
            file.read_to_end(&mut found).expect("readable");
            assert!(found == content, "{path}");
        }
    }

    #[test]
    fn words_are_quoted_for_the_script() {
        assert_eq!(
            script("console=ttyAMA0 x='a;b").lines().next(),
            Some(r"linux /boot.img 'console=ttyAMA0' 'x='\''a;b'")
        );
    }
}
