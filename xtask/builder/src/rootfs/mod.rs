// SPDX-License-Identifier: MIT OR Apache-2.0
//! Root file systems for the guest: a user's image, or one made of Debian's packages.
//!
//! The host downloads and unpacks the packages, without root privileges. Their own scripts run in
//! the guest, over the inner domain. What is complete stays in the cache.

mod base;
mod file;
mod image;
mod packages;
mod start;
mod watched;

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, Result};
use donjon_machine::machine::Machine;
use donjon_machine::qemu::DiskImage;

use crate::arguments::HostArguments;
use crate::paths::{self, CacheLock};

/// What `--rootfs` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root {
    /// Debian with further packages.
    Debian(Vec<String>),
    /// An image of the user's.
    File(PathBuf),
}

impl FromStr for Root {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        const DEBIAN: &str = "debian";
        let packages = match text.split_once(':') {
            Some((DEBIAN, packages)) => packages,
            _ if text == DEBIAN => "",
            _ => return Ok(Self::File(text.into())),
        };
        let names = packages.split(',').map(str::trim);
        let mut names: Vec<String> = names
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        Ok(Self::Debian(names))
    }
}

impl Root {
    /// Refuses what cannot be, before anything is built.
    ///
    /// # Errors
    ///
    /// If there is no such file, it is nothing that `machine` takes for a disk, or cannot be
    /// written although it has to `keep` changes, or if a name cannot be that of a package.
    pub fn check(&self, machine: &Machine, keep: bool) -> Result<()> {
        match self {
            Self::Debian(names) => packages::check_names(names),
            Self::File(file) => {
                file::check(file, keep)?;
                machine.disk_from(file)?;
                Ok(())
            }
        }
    }
}

/// Where the cache has the images of Debian's base system and what is made of it.
///
/// # Errors
///
/// If the host is no Debian, or has no cache.
pub fn debian_directory() -> Result<PathBuf> {
    Ok(paths::cache()?.join("rootfs").join(base::name()?))
}

/// The disk for `root`, made if the cache does not have it. With `keep` it is one that the guest
/// may change for good: the user's own, or a copy of that in the cache.
///
/// # Errors
///
/// If there is no such file or package, or the network or the disk fails.
pub fn obtain(host: &HostArguments, root: &Root, keep: bool) -> Result<DiskImage> {
    let names = match root {
        Root::File(file) => {
            let file = file.canonicalize();
            let file = file.with_context(|| format!("reading the image of {root:?}"))?;
            return Ok(DiskImage::new(file, keep));
        }
        Root::Debian(names) => names,
    };
    let all = paths::cache()?.join("rootfs");
    let directory = all.join(base::name()?);
    let name = packages::file_name(names);
    let place = directory.join(&name);
    // No pattern that finds images to make anew, such as `with_*.img`, finds this one.
    let kept = directory.join(format!("kept_{name}"));
    if keep && kept.exists() {
        eprintln!("changes are kept in {}", kept.display());
        return Ok(DiskImage::new(kept, keep));
    }
    if let Some(lock) = CacheLock::take_unless_there_in(&all, &place)? {
        base::obtain(host, &lock, &directory)?;
        // That may have been all.
        if !place.exists() {
            packages::install(host, &lock, &directory, names, &place)?;
        }
    }
    if !keep {
        return Ok(DiskImage::unchanged(place));
    }
    if let Some(lock) = CacheLock::take_unless_there_in(&all, &kept)? {
        let unfinished = lock.unfinished("kept.img");
        image::copy(&place, &unfinished)?;
        std::fs::rename(unfinished, &kept)?;
    }
    eprintln!(
        "changes are kept in {}; remove it to begin anew",
        kept.display()
    );
    Ok(DiskImage::new(kept, keep))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debian_is_a_word_and_everything_else_a_file() {
        let root = |text: &str| text.parse::<Root>().expect("never fails");
        let debian = |names: &[&str]| {
            let names = names.iter().map(|it| (*it).to_owned());
            Root::Debian(names.collect())
        };
        assert_eq!(root("debian"), debian(&[]));
        assert_eq!(root("debian:"), debian(&[]));
        assert_eq!(root("debian:b, a,b"), debian(&["a", "b"]));
        assert_eq!(root("./debian"), Root::File("./debian".into()));
        assert_eq!(root("debian.img"), Root::File("debian.img".into()));
        assert_eq!(root("other:a"), Root::File("other:a".into()));
    }
}
