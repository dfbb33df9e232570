// SPDX-License-Identifier: MIT OR Apache-2.0
//! The root partition: an ext4 with what guests start from in QEMU.
//!
//! It is unpacked from the archive of the initramfs, so that there is one list of programs.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use cpio::NewcReader;
use donjon_machine::process;
use donjon_machine::tools::MKE2FS;
use nix::libc::{S_IFDIR, S_IFLNK, S_IFMT, S_IFREG};

/// Time of everything: 1 January 1980, as on the boot partition, in seconds.
const TIME: &str = "315532800";

/// Makes the file system in the new file `image` of `size` bytes from an archive in the format
/// `newc`, with `directory` for what comes between.
pub fn write(image: &Path, size: u64, uuid: &str, archive: &[u8], directory: &Path) -> Result<()> {
    let root = directory.join("root");
    fs::create_dir(&root)?;
    let mut paths = unpack(archive, &root)?;
    paths.push(PathBuf::from("/"));
    let mut command = Command::new(MKE2FS);
    command.args(["-q", "-F", "-t", "ext4", "-L", "donjon", "-U", uuid]);
    // Nothing of the host's own configuration, nothing random, nothing left to be done at the
    // first mount.
    command.env("MKE2FS_CONFIG", "/dev/null");
    command.arg("-E").arg(format!(
        "hash_seed={uuid},root_owner=0:0,lazy_itable_init=0,lazy_journal_init=0,nodiscard"
    ));
    command.args(["-b", "4096", "-I", "256", "-m", "0"]);
    command.env("E2FSPROGS_FAKE_TIME", TIME);
    command.arg("-d").arg(&root).arg(image);
    command.arg(format!("{}k", size / 1024));
    process::output(&mut command).context("making the root partition")?;
    set_owner_and_time(image, &paths, directory)
}

/// Unpacks regular files, directories and links; returns where they are in the archive.
fn unpack(archive: &[u8], root: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    let mut rest = archive;
    loop {
        let mut entry = NewcReader::new(rest).context("reading the archive of guest programs")?;
        if entry.entry().is_trailer() {
            return Ok(paths);
        }
        let name = PathBuf::from(entry.entry().name());
        ensure!(
            name.components()
                .all(|it| matches!(it, Component::Normal(_)))
                && !entry.entry().name().contains([' ', '"', '\n']),
            "the archive of guest programs has the name {name:?}, which a card cannot have"
        );
        let to = root.join(&name);
        let mode = entry.entry().mode();
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        match mode & S_IFMT {
            S_IFDIR => fs::create_dir_all(&to)?,
            S_IFREG => fs::write(&to, content)?,
            S_IFLNK => symlink(String::from_utf8(content)?, &to)?,
            _ => bail!(
                "the archive of guest programs has a device: {}",
                name.display()
            ),
        }
        if !to.is_symlink() {
            fs::set_permissions(&to, Permissions::from_mode(mode & 0o7777))?;
        }
        paths.push(Path::new("/").join(name));
        rest = entry.finish()?;
    }
}

/// mke2fs takes owner and times from the host's files; here they become root and [`TIME`].
fn set_owner_and_time(image: &Path, paths: &[PathBuf], directory: &Path) -> Result<()> {
    let mut script = String::new();
    for path in paths {
        let path = path.display();
        for field in ["uid 0", "gid 0"] {
            writeln!(script, "sif {path} {field}")?;
        }
        for field in ["atime", "ctime", "mtime"] {
            writeln!(script, "sif {path} {field} @{TIME}")?;
        }
    }
    let file = directory.join("owner-and-time");
    fs::write(&file, script)?;
    let debugfs = Path::new(MKE2FS).with_file_name("debugfs");
    let mut command = Command::new(debugfs);
    command.env("E2FSPROGS_FAKE_TIME", TIME);
    command.arg("-w").arg("-f").arg(&file).arg(image);
    let output = process::both(&mut command)?;
    // It reports failures of single commands only in what it says, behind its own version.
    let said = String::from_utf8_lossy(&output.stderr);
    let complaints: Vec<_> = said
        .lines()
        .filter(|it| !it.starts_with("debugfs "))
        .collect();
    if !output.status.success() || !complaints.is_empty() {
        return Err(io::Error::other(complaints.join("; ")))
            .context("setting owner and time of the files on the root partition");
    }
    Ok(())
}
