// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a tarball or a user's tree to a clean tree of our own.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{source, walk};
use crate::process::Running;
use crate::progress::Step;

/// What an unpacked tree and its first build take.
const NEEDED_BYTES: u64 = 2500 << 20;

/// Says so before the disk is full, if that can be foreseen.
pub fn check_space(directory: &Path) -> Result<()> {
    let data = nix::sys::statvfs::statvfs(directory)?;
    let free = data.blocks_available() * data.fragment_size();
    if free < NEEDED_BYTES {
        bail!("{}", disk_full(directory, free));
    }
    Ok(())
}

fn disk_full(directory: &Path, free: u64) -> String {
    format!(
        "not enough disk space in {}: {} MiB are free, Linux needs {} MiB; make room, or set \
         XDG_CACHE_HOME to a directory on a larger disk",
        directory.display(),
        free >> 20,
        NEEDED_BYTES >> 20
    )
}

/// Unpacks `tarball` into the new directory `to`.
pub fn tarball(tarball: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let mut file = File::open(tarball)?;
    let step = Step::counted("unpack Linux", file.metadata()?.len());
    let mut tar = Command::new("tar");
    tar.args([
        "--extract",
        "--xz",
        "--strip-components=1",
        "--no-same-owner",
        "--directory",
    ]);
    tar.arg(to).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut tar = Running::start(&mut tar)?;
    let mut input = tar.child().stdin.take().context("tar has no input")?;
    let mut buffer = vec![0; 1 << 18];
    let copied = loop {
        let bytes = file.read(&mut buffer)?;
        if bytes == 0 {
            break Ok(());
        }
        // An error is tar's end; what it says is worth more than "broken pipe".
        if let Err(error) = input.write_all(&buffer[..bytes]) {
            break Err(error);
        }
        step.advance(bytes as u64);
    };
    drop(input);
    let mut said = String::new();
    if let Some(mut stderr) = tar.child().stderr.take() {
        stderr.read_to_string(&mut said)?;
    }
    let status = tar.wait()?;
    if status.success() && copied.is_ok() {
        step.finish();
        return Ok(());
    }
    if said.contains("No space left") {
        bail!("{}", disk_full(to, 0));
    }
    let first: Vec<&str> = said.lines().take(3).collect();
    bail!(
        "unpacking {} failed ({status}): {}",
        tarball.display(),
        first.join("; ")
    )
}

/// Makes `to` equal to the user's tree `from`, touching only what differs.
pub fn tree(from: &Path, to: &Path) -> Result<()> {
    let files = walk::files_except(from, &source::is_build_product)?;
    let step = Step::counted("copy Linux", files.len() as u64);
    for file in &files {
        let relative = file.strip_prefix(from)?;
        copy_if_different(file, &to.join(relative)).map_err(|error| {
            if error.kind() == io::ErrorKind::StorageFull {
                anyhow::anyhow!("{}", disk_full(to, 0))
            } else {
                anyhow::Error::new(error).context(format!("copying {}", file.display()))
            }
        })?;
        step.advance(1);
    }
    for file in walk::files(to)? {
        if fs::symlink_metadata(from.join(file.strip_prefix(to)?)).is_err() {
            fs::remove_file(&file)?;
        }
    }
    step.finish();
    Ok(())
}

fn copy_if_different(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    if fs::symlink_metadata(from)?.is_symlink() {
        let target = fs::read_link(from)?;
        if fs::read_link(to).is_ok_and(|it| it == target) {
            return Ok(());
        }
        let _ = fs::remove_file(to);
        return std::os::unix::fs::symlink(target, to);
    }
    let same_size = fs::metadata(to)
        .is_ok_and(|it| fs::metadata(from).is_ok_and(|other| other.len() == it.len()));
    if same_size && fs::read(from)? == fs::read(to)? {
        return Ok(());
    }
    fs::copy(from, to).map(|_| ())
}
