// SPDX-License-Identifier: MIT OR Apache-2.0
//! Debian's packages for arm64, unpacked but not installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::paths::{self, CacheLock};
use crate::process;
use crate::progress::Step;

/// BusyBox, downloaded if the cache does not have it.
pub fn obtain_busybox() -> Result<PathBuf> {
    obtain("busybox", &["busybox-static:arm64"], "bin/busybox")
}

/// The place in the cache that `packages` are unpacked to, which must have the file `proof` in it.
pub fn obtain_libraries(name: &str, packages: &[&str], proof: &str) -> Result<PathBuf> {
    let mut place = obtain(name, packages, proof)?;
    for _ in Path::new(proof).components() {
        place.pop();
    }
    Ok(place)
}

/// The file `proof` of `packages`.
fn obtain(name: &str, packages: &[&str], proof: &str) -> Result<PathBuf> {
    let place = paths::cache()?.join(name);
    let file = place.join(proof);
    if file.exists() {
        return Ok(file);
    }
    let lock = CacheLock::take()?;
    if file.exists() {
        return Ok(file);
    }
    let step = Step::spinner(format!("download {name} for arm64"));
    let unfinished = lock.unfinished(name);
    download(&unfinished, packages).with_context(|| {
        format!(
            "downloading {} failed; if the network went away, run the same command again. Files \
             of your own can be put into {}, such that {} is among them",
            packages.join(" "),
            place.display(),
            file.display()
        )
    })?;
    let root = unfinished.join("root");
    ensure!(
        root.join(proof).exists(),
        "{} do not have {proof}",
        packages.join(" ")
    );
    fs::rename(root, &place)?;
    step.finish();
    Ok(file)
}

fn download(directory: &Path, packages: &[&str]) -> Result<()> {
    let lists = directory.join("lists");
    let archives = directory.join("archives");
    fs::create_dir_all(lists.join("partial"))?;
    fs::create_dir_all(archives.join("partial"))?;
    apt(directory, &["--quiet", "update"])?;
    apt(directory, &[&["--quiet", "download"], packages].concat())?;
    let root = directory.join("root");
    let mut found = 0;
    for entry in fs::read_dir(directory)? {
        let package = entry?.path();
        if package.extension().is_some_and(|it| it == "deb") {
            let mut extract = Command::new("dpkg-deb");
            process::output(extract.arg("--extract").arg(&package).arg(&root))?;
            found += 1;
        }
    }
    ensure!(
        found == packages.len(),
        "apt-get reported success but left {found} packages"
    );
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
        &paths::cache()?.join("logs/packages.log"),
        |_| (),
    )
}
