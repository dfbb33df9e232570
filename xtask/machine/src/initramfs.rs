// SPDX-License-Identifier: MIT OR Apache-2.0
//! The initramfs, in memory. Equal input gives equal bytes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cpio::newc::{self, ModeFileType};

/// Names of the virtio ports that carry the output of a command, and its status.
pub const PORTS: [&str; 3] = ["donjon.stdout", "donjon.stderr", "donjon.status"];

const DIRECTORIES: [&str; 12] = [
    "bin",
    "dev",
    "donjon",
    "etc",
    "lib",
    "lib/modules",
    "mnt",
    "proc",
    "root",
    "sys",
    "tmp",
    "usr",
];

/// The module that attacks is in no guest but those that are there to be attacked.
const HOSTILE: &str = "donjon_attack.ko";

/// Archive of BusyBox, the guest programs in some directories, the kernel's modules and /init.
///
/// # Errors
///
/// If a file or directory cannot be read.
pub fn base(busybox: &Path, programs: &[PathBuf], modules: &Path) -> Result<Vec<u8>> {
    let mut archive = Archive::default();
    for directory in DIRECTORIES {
        archive.add(directory, ModeFileType::Directory, 0o755, b"")?;
    }
    archive.file("init", 0o755, include_bytes!("init.sh"))?;
    archive.file("donjon/root.sh", 0o644, include_bytes!("root.sh"))?;
    archive.file("bin/busybox", 0o755, &read(busybox)?)?;
    let is_ours = |name: &str| name.starts_with("donjon-") && !name.contains('.');
    for directory in programs {
        for name in files(directory, is_ours)? {
            let bytes = read(&directory.join(&name))?;
            archive.file(&format!("bin/{name}"), 0o755, &bytes)?;
        }
    }
    let is_kept = |name: &str| name.ends_with(".ko") && name != HOSTILE;
    for name in files(modules, is_kept)? {
        let place = format!("lib/modules/{name}");
        archive.file(&place, 0o644, &read(&modules.join(&name))?)?;
    }
    archive.finish()
}

/// `base` with a command that /init runs instead of a shell.
///
/// # Errors
///
/// If the command is too long for the archive's format.
pub fn with_command(base: &[u8], command: &str) -> Result<Vec<u8>> {
    with_file(base, "donjon/exec", format!("{command}\n").as_bytes())
}

/// `base` with one more file, in a directory that it has.
///
/// # Errors
///
/// If the file is too long for the archive's format.
pub fn with_file(base: &[u8], name: &str, content: &[u8]) -> Result<Vec<u8>> {
    let mut archive = Archive::default();
    archive.file(name, 0o644, content)?;
    // The kernel unpacks one archive after the other.
    let mut both = base.to_vec();
    both.extend(archive.finish()?);
    Ok(both)
}

/// `base` with programs at absolute paths, and the directories that they are in.
///
/// # Errors
///
/// If a program is too long for the archive's format.
pub fn with_programs(base: &[u8], programs: &[(String, Vec<u8>)]) -> Result<Vec<u8>> {
    let mut archive = Archive::default();
    let mut directories = BTreeSet::new();
    for (path, _) in programs {
        let parents = Path::new(path).ancestors().skip(1);
        directories.extend(parents.filter(|it| it.parent().is_some()));
    }
    for directory in directories {
        let name = directory.to_string_lossy();
        let name = name.trim_start_matches('/');
        archive.add(name, ModeFileType::Directory, 0o755, b"")?;
    }
    for (path, content) in programs {
        archive.file(path.trim_start_matches('/'), 0o755, content)?;
    }
    let mut both = base.to_vec();
    both.extend(archive.finish()?);
    Ok(both)
}

/// Names of the files in `directory` that are wanted, sorted.
fn files(directory: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .with_context(|| format!("reading {}", directory.display()))?
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| wanted(name))
        .collect();
    names.sort();
    Ok(names)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("reading {}", path.display()))
}

#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

impl Archive {
    fn file(&mut self, name: &str, mode: u32, content: &[u8]) -> Result<()> {
        self.add(name, ModeFileType::Regular, mode, content)
    }

    fn add(&mut self, name: &str, kind: ModeFileType, mode: u32, content: &[u8]) -> Result<()> {
        self.entries += 1;
        let builder = newc::Builder::new(name)
            .ino(self.entries)
            .mode(mode)
            .set_mode_file_type(kind);
        let mut writer = builder.write(&mut self.bytes, u32::try_from(content.len())?);
        std::io::Write::write_all(&mut writer, content)?;
        writer.finish()?;
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u8>> {
        newc::trailer(&mut self.bytes)?;
        Ok(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_follows_the_base_archive_unchanged() {
        let both = with_command(b"base", "echo \"it's\" 'quoted'").expect("archive");
        assert!(both.starts_with(b"base0707"));
        let text = String::from_utf8_lossy(&both);
        assert!(text.contains("echo \"it's\" 'quoted'\n"));
        assert_eq!((both.len() - 4) % 4, 0);
    }

    #[test]
    fn directories_come_before_the_programs_in_them() {
        let programs = [("/opt/a/b".to_owned(), b"content".to_vec())];
        let archive = with_programs(b"", &programs).expect("archive");
        let text = String::from_utf8_lossy(&archive);
        let at = |name| text.find(name).expect(name);
        assert!(at("opt\0") < at("opt/a\0"));
        assert!(at("opt/a\0") < at("opt/a/b\0"));
    }
}
