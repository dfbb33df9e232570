// SPDX-License-Identifier: MIT OR Apache-2.0
//! BusyBox for arm64, from Debian's package, unpacked but not installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::paths::{self, CacheLock};
use crate::process;
use crate::progress::Step;

const PACKAGE: &str = "busybox-static:arm64";

/// The program in the cache, downloaded if it is not there.
pub fn obtain() -> Result<PathBuf> {
    let place = paths::cache()?.join("busybox");
    let program = place.join("bin/busybox");
    if program.exists() {
        return Ok(program);
    }
    let lock = CacheLock::take()?;
    if program.exists() {
        return Ok(program);
    }
    let step = Step::spinner("download BusyBox for arm64");
    let unfinished = lock.unfinished("busybox");
    download(&unfinished).with_context(|| {
        format!(
            "downloading the Debian package {PACKAGE} failed; if the network went away, run the \
             same command again. A static arm64 BusyBox of your own can be put at {}",
            program.display()
        )
    })?;
    fs::rename(unfinished.join("root"), &place)?;
    step.finish();
    Ok(program)
}

fn download(directory: &Path) -> Result<()> {
    let lists = directory.join("lists");
    let archives = directory.join("archives");
    fs::create_dir_all(lists.join("partial"))?;
    fs::create_dir_all(archives.join("partial"))?;
    apt(directory, &["--quiet", "update"])?;
    apt(directory, &["--quiet", "download", PACKAGE])?;
    let package = fs::read_dir(directory)?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|it| it == "deb"))
        .context("apt-get reported success but left no package")?;
    let root = directory.join("root");
    let mut extract = Command::new("dpkg-deb");
    process::output(extract.arg("--extract").arg(&package).arg(&root))?;
    Ok(())
}

/// apt-get for arm64 with its state in `directory`: neither root nor a foreign architecture on
/// the host is needed.
fn apt(directory: &Path, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    for option in [
        "APT::Architecture=arm64".to_owned(),
        "APT::Architectures=arm64".to_owned(),
        "APT::Sandbox::User=".to_owned(),
        "APT::Update::Post-Invoke=".to_owned(),
        "Acquire::Languages=none".to_owned(),
        "Dir::State::status=/dev/null".to_owned(),
        format!("Dir::State::lists={}", directory.join("lists").display()),
        format!(
            "Dir::Cache::archives={}",
            directory.join("archives").display()
        ),
        "Dir::Cache::pkgcache=".to_owned(),
        "Dir::Cache::srcpkgcache=".to_owned(),
    ] {
        command.arg("-o").arg(option);
    }
    command.args(arguments).current_dir(directory);
    process::logged(
        &mut command,
        &paths::cache()?.join("logs/busybox.log"),
        |_| (),
    )
}
