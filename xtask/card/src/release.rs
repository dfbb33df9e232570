// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files of a release: boot image, kernel, guest programs, notes and their digests.

use std::fmt::Write;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};
use donjon_token::to_hexadecimal;
use sha2::{Digest, Sha256};

use crate::output;

/// The file with the digests, as `sha256sum --check` reads it.
const SUMS: &str = "SHA256SUMS";
/// The file with what is new.
const NOTES: &str = "NOTES.md";

/// What the notes say of licences and sources.
const SOURCES: &str = "
## Licences and sources

The boot image has the boot stage and the inner domain (MIT or Apache-2.0) and Linux 6.12
(GPL-2.0-only): Debian's package linux-source-6.12 with the change in kernel-patch/. The archive of
guest programs has our own (MIT or Apache-2.0) and Debian's BusyBox (GPL-2.0-only). The repository of
this version builds all of them from these sources.
";

/// What a release is made of.
pub struct Parts<'a> {
    /// Version, such as `0.1.0`.
    pub version: &'a str,
    /// The boot image: boot stage, inner domain and Linux.
    pub boot_image: &'a [u8],
    /// Linux's `Image` alone, as it is in the boot image.
    pub kernel: &'a [u8],
    /// Archive (format `newc`) of the guest programs.
    pub guest: &'a [u8],
    /// The change log of the repository.
    pub change_log: &'a str,
}

/// Writes the files of a release to `directory`.
///
/// # Errors
///
/// If the change log has no section for the version, or a file cannot be written.
pub fn write(parts: &Parts<'_>, directory: &Path) -> Result<()> {
    let notes = notes(parts.change_log, parts.version)? + SOURCES;
    // Digests of older files beside new ones would mislead, if a file cannot be written.
    match fs::remove_file(directory.join(SUMS)) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("removing the old {SUMS}"));
        }
        _ => {}
    }
    let names = ["boot.img", "linux-Image", "guest.cpio"]
        .map(|it| format!("donjon-{}-{it}", parts.version));
    let contents = [parts.boot_image, parts.kernel, parts.guest];
    let mut files: Vec<(&str, &[u8])> = names.iter().map(String::as_str).zip(contents).collect();
    files.push((NOTES, notes.as_bytes()));
    let sums = sums(&files)?;
    files.push((SUMS, sums.as_bytes()));
    output::write_files(directory, &files)
}

/// Returns a line of digest and name for each file.
fn sums(files: &[(&str, &[u8])]) -> Result<String> {
    let mut text = String::new();
    for (name, content) in files {
        writeln!(text, "{}  {name}", to_hexadecimal(&Sha256::digest(content)))?;
    }
    Ok(text)
}

/// Returns the section of the change log for a version, with a heading of its own. It is what the
/// notes begin with.
///
/// # Errors
///
/// If there is no section `## VERSION`, or it is empty.
pub fn notes(change_log: &str, version: &str) -> Result<String> {
    let mut lines = change_log.lines();
    let is_heading = |line: &&str| {
        line.strip_prefix("## ")
            .is_some_and(|it| it.split([',', ' ']).next() == Some(version))
    };
    lines.find(is_heading).with_context(|| {
        format!("CHANGELOG.md has no section \"## {version}\": write what is new there")
    })?;
    let section: Vec<&str> = lines.take_while(|it| !it.starts_with("## ")).collect();
    let section = section.join("\n");
    let section = section.trim();
    anyhow::ensure!(
        !section.is_empty(),
        "the section {version} of CHANGELOG.md is empty: write what is new there"
    );
    Ok(format!("# Donjon {version}\n\n{section}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGE_LOG: &str =
        "# Change log\n\n## 0.2.0, unreleased\n\n* Newer.\n\n## 0.1.0\n\n* It works.\n";

    fn parts(version: &str) -> Parts<'_> {
        Parts {
            version,
            boot_image: b"boot",
            kernel: b"",
            guest: b"guest",
            change_log: CHANGE_LOG,
        }
    }

    #[test]
    fn a_release_has_its_files_and_their_digests() {
        let directory = tempfile::tempdir().expect("directory");
        write(&parts("0.1.0"), directory.path()).expect("files");
        let read = |name: &str| fs::read_to_string(directory.path().join(name)).expect("file");
        assert!(read(NOTES).starts_with("# Donjon 0.1.0\n\n* It works.\n"));
        assert!(read(NOTES).contains("linux-source-6.12"));
        assert_eq!(read("donjon-0.1.0-boot.img"), "boot");
        let sums = read(SUMS);
        // The digest of nothing.
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let line = format!("{empty}  donjon-0.1.0-linux-Image\n");
        assert!(sums.contains(&line), "{sums}");
        assert_eq!(sums.lines().count(), 4);
        assert_eq!(fs::read_dir(directory.path()).expect("files").count(), 5);
    }

    #[test]
    fn a_version_without_notes_is_refused() {
        let directory = tempfile::tempdir().expect("directory");
        let error = write(&parts("0.3.0"), directory.path()).expect_err("no notes");
        assert!(error.to_string().contains("## 0.3.0"), "{error}");
        assert_eq!(fs::read_dir(directory.path()).expect("files").count(), 0);
        assert!(notes("## 0.1.0\n\n## 0.0.1\n* Old.\n", "0.1.0").is_err());
    }
}
