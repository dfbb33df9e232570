// SPDX-License-Identifier: MIT OR Apache-2.0
//! Debian's packages for arm64, unpacked but not installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use donjon_machine::process;

use super::apt::{ARM64, Apt};
use super::archive;
use crate::paths::{self, CacheLock};
use crate::progress::Step;

/// BusyBox, downloaded if the cache does not have it.
pub fn obtain_busybox() -> Result<PathBuf> {
    obtain("busybox", &["busybox-static:arm64"], "bin/busybox")
}

/// BusyBox for programs of 32 bits, downloaded if the cache does not have it.
pub fn obtain_busybox_for_32_bits() -> Result<PathBuf> {
    const ARCHITECTURE: &str = "armhf";
    let packages = ["busybox-static:armhf"];
    obtain_for(ARCHITECTURE, "busybox-armhf", &packages, "bin/busybox")
}

/// GRUB as a UEFI program, downloaded if the cache does not have it.
pub fn obtain_grub() -> Result<PathBuf> {
    const PROGRAM: &str = "usr/lib/grub/arm64-efi/monolithic/grubaa64.efi";
    // It has a package of its own since Debian 13.
    obtain("grub", &["grub-efi-arm64-unsigned:arm64"], PROGRAM)
        .or_else(|_| obtain("grub", &["grub-efi-arm64-bin:arm64"], PROGRAM))
}

/// The place in the cache that `packages` are unpacked to, which must have the file `proof` in it.
pub fn obtain_libraries(name: &str, packages: &[&str], proof: &str) -> Result<PathBuf> {
    let mut place = obtain(name, packages, proof)?;
    for _ in Path::new(proof).components() {
        place.pop();
    }
    Ok(place)
}

/// A component of Debian's archive whose packages are not free software.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// Programs.
    NonFree,
    /// Firmware, since Debian 12.
    NonFreeFirmware,
}

impl Component {
    fn name(self) -> &'static str {
        match self {
            Self::NonFree => "non-free",
            Self::NonFreeFirmware => "non-free-firmware",
        }
    }
}

/// Packages of which some are in a component that is not free, the first of them with its version.
pub struct Versioned {
    /// Version of the first package.
    pub version: String,
    /// What they are unpacked to.
    pub root: PathBuf,
}

/// `packages` with one more component, whatever the host's own sources say of it, in a place of
/// the cache that has the version of the first of them in its name.
pub fn obtain_non_free(
    name: &str,
    component: Component,
    packages: &[&str],
    proof: &str,
) -> Result<Versioned> {
    let all = paths::cache()?.join(name);
    if let Some(found) = newest(&all, proof) {
        return Ok(found);
    }
    let lock = CacheLock::take()?;
    if let Some(found) = newest(&all, proof) {
        return Ok(found);
    }
    let step = Step::spinner(format!("download {name} for arm64"));
    let unfinished = lock.unfinished(name);
    let sources = unfinished.join("sources");
    archive::with_component(Path::new("/etc/apt"), component.name(), &sources)?;
    let apt = Apt::new(&unfinished, Some(&sources))?;
    download(&unfinished, packages, &apt)
        .with_context(|| format!("downloading {} failed", packages.join(" ")))?;
    let root = unfinished.join("root");
    ensure!(
        root.join(proof).exists(),
        "{} do not have {proof}",
        packages.join(" ")
    );
    let first = packages.first().and_then(|it| it.split(':').next());
    let version = version(&unfinished, first.unwrap_or(name))?;
    fs::create_dir_all(&all)?;
    let place = all.join(&version);
    fs::rename(root, &place)?;
    step.finish();
    Ok(Versioned {
        version,
        root: place,
    })
}

/// What an earlier download left.
fn newest(all: &Path, proof: &str) -> Option<Versioned> {
    let entries = fs::read_dir(all).ok()?.filter_map(Result::ok);
    let complete = entries.filter(|it| it.path().join(proof).exists());
    let name = |it: fs::DirEntry| it.file_name().to_string_lossy().into_owned();
    let version = complete.map(name).max()?;
    let root = all.join(&version);
    Some(Versioned { version, root })
}

/// The version of a package file in `directory`.
fn version(directory: &Path, package: &str) -> Result<String> {
    let start = format!("{package}_");
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&start) {
            let mut field = Command::new("dpkg-deb");
            field.arg("--field").arg(entry.path()).arg("Version");
            return Ok(process::output(&mut field)?.trim().to_owned());
        }
    }
    anyhow::bail!("apt-get reported success but left no package {package}")
}

/// The file `proof` of `packages`.
fn obtain(name: &str, packages: &[&str], proof: &str) -> Result<PathBuf> {
    obtain_for(ARM64, name, packages, proof)
}

/// The file `proof` of `packages` for an architecture of Debian's.
fn obtain_for(architecture: &str, name: &str, packages: &[&str], proof: &str) -> Result<PathBuf> {
    let place = paths::cache()?.join(name);
    let file = place.join(proof);
    let Some(lock) = CacheLock::take_unless_there(&file)? else {
        return Ok(file);
    };
    let step = Step::spinner(format!("download {name} for {architecture}"));
    let unfinished = lock.unfinished(name);
    let apt = Apt::new(&unfinished, None)?.with_architecture(architecture);
    download(&unfinished, packages, &apt).with_context(|| {
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

/// Downloads into the directory of `apt`, and unpacks.
fn download(directory: &Path, packages: &[&str], apt: &Apt) -> Result<()> {
    // One archive of several may be unreachable, or in the middle of an update: what has the
    // packages may be there all the same.
    let updated = apt.run(&["update"]);
    let downloaded = apt.run(&[&["download"], packages].concat());
    if downloaded.is_err() {
        updated?;
    }
    downloaded?;
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
