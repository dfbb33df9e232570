// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files that the VideoCore of a Raspberry Pi 3 starts from. They are not free software; the
//! text of their licence goes with them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::rpi3::BootFile;

/// What the boot ROM and the files themselves load, in this order. On a Raspberry Pi 3 no other
/// file is needed ("The boot folder" in the Raspberry Pi documentation).
pub const FILES: [&str; 3] = ["bootcode.bin", "start.elf", "fixup.dat"];

/// Name of the licence on the card.
pub const LICENCE: &str = "LICENCE.broadcom";

/// The licence as it is called in the repository of the firmware and in Debian's package.
const LICENCES: [&str; 3] = [LICENCE, "LICENSE.broadcom", "copyright"];

/// Reads the firmware in `directory`, and its licence there or in `documents`.
///
/// # Errors
///
/// If a file is missing or empty; the message says where to get it.
pub fn read(directory: &Path, documents: Option<&Path>) -> Result<Vec<BootFile>> {
    ensure!(
        directory.is_dir(),
        "there is no directory {}; give the directory of the Raspberry Pi's firmware with \
         --firmware DIR, or leave the option out to use Debian's package raspi-firmware",
        directory.display()
    );
    let mut files = Vec::new();
    let missing: Vec<&str> = FILES
        .into_iter()
        .filter(|name| !directory.join(name).is_file())
        .collect();
    ensure!(
        missing.is_empty(),
        "{} has no {}: it is not the firmware of a Raspberry Pi 3. The files are in the directory \
         `boot` of https://github.com/raspberrypi/firmware and in /usr/lib/raspi-firmware of \
         Debian's package raspi-firmware; give that directory with --firmware DIR, or leave the \
         option out to have the package downloaded",
        directory.display(),
        missing.join(", ")
    );
    for name in FILES {
        let path = directory.join(name);
        let content = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        ensure!(
            !content.is_empty(),
            "{} is empty: get the firmware again",
            path.display()
        );
        files.push(BootFile::new(name, content));
    }
    let places = [Some(directory), documents];
    let licence = places
        .into_iter()
        .flatten()
        .flat_map(|place| LICENCES.map(|name| place.join(name)))
        .find(|path| path.is_file());
    let licence = licence.with_context(|| {
        format!(
            "{} has no {LICENCE}: the licence asks for its text beside the files; copy it there \
             from the place that the firmware comes from",
            directory.display()
        )
    })?;
    let text = fs::read(&licence).with_context(|| format!("reading {}", licence.display()))?;
    files.push(BootFile::new(LICENCE, text));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(directory: &Path) -> String {
        let error = read(directory, None).expect_err("it must be refused");
        format!("{error:#}")
    }

    #[test]
    fn each_missing_file_is_named_with_what_to_do() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path();
        assert!(message(&path.join("nothing")).contains("no directory"));
        fs::write(path.join("start.elf"), "x").expect("file");
        let said = message(path);
        for word in ["bootcode.bin, fixup.dat", "--firmware", "raspi-firmware"] {
            assert!(said.contains(word), "{said}");
        }
        for name in FILES {
            fs::write(path.join(name), "x").expect("file");
        }
        assert!(message(path).contains(LICENCE));
        fs::write(path.join("copyright"), "terms").expect("file");
        let files = read(path, None).expect("firmware");
        assert_eq!(files.last().map(|it| it.name.as_str()), Some(LICENCE));
        fs::write(path.join("start.elf"), "").expect("file");
        assert!(message(path).contains("empty"));
    }
}
