// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a tarball or a user's tree to a clean tree of our own.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use anyhow::{Context, Result, bail};
use donjon_machine::process::Running;

use super::{source, walk};
use crate::progress::Step;

/// What an unpacked tree and its first build take.
const NEEDED_BYTES: u64 = 2500 << 20;

/// Says so before the disk is full, if that can be foreseen.
pub fn check_space(directory: &Path) -> Result<()> {
    let data = nix::sys::statvfs::statvfs(directory)?;
    let free = data.blocks_available() * data.fragment_size();
    if free < NEEDED_BYTES {
        bail!(
            "not enough disk space in {}: {} MiB are free, Linux needs {} MiB; {MAKE_ROOM}",
            directory.display(),
            free >> 20,
            NEEDED_BYTES >> 20
        );
    }
    Ok(())
}

const MAKE_ROOM: &str = "make room, or set XDG_CACHE_HOME to a directory on a larger disk";

fn disk_full(directory: &Path) -> String {
    format!(
        "not enough disk space in {}: the disk is full; {MAKE_ROOM}",
        directory.display()
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
    let errors = tar.child().stderr.take().context("tar has no stderr")?;
    // Read all the time: tar goes on after an error, and a full pipe would stop it for ever.
    let (sender, said) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let mut buffer = vec![0; 1 << 18];
    loop {
        let bytes = file.read(&mut buffer)?;
        // What tar says is worth more than "broken pipe".
        if bytes == 0 || input.write_all(&buffer[..bytes]).is_err() {
            break;
        }
        if let Ok(line) = said.try_recv() {
            bail!("{}", failure(tarball, to, &line));
        }
        step.advance(bytes as u64);
    }
    drop(input);
    let status = tar.wait()?;
    if !status.success() {
        let first = said.recv().unwrap_or_else(|_| format!("tar: {status}"));
        bail!("{}", failure(tarball, to, &first));
    }
    step.finish();
    Ok(())
}

fn failure(tarball: &Path, to: &Path, said: &str) -> String {
    if said.contains("No space left") {
        return disk_full(to);
    }
    format!(
        "unpacking {} failed: {said}; if the file is damaged, install its package again",
        tarball.display()
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
                anyhow::anyhow!("{}", disk_full(to))
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
