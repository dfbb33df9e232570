// SPDX-License-Identifier: MIT OR Apache-2.0
//! Further packages: the host finds and downloads them, the guest installs them.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use donjon_machine::process;
use donjon_machine::tools::MKE2FS;
use sha2::{Digest, Sha256};

use super::base::{IMAGE, STATUS};
use super::image::{self, Job};
use crate::arguments::HostArguments;
use crate::guest::Apt;
use crate::paths::{self, CacheLock};
use crate::progress::Step;

/// Longest name of a file that is still the list of its packages.
const LONGEST: usize = 120;
/// Before the sizes of the packages are known.
const NEEDED_BYTES: u64 = 1 << 30;

/// Installs what is on the second disk. No service starts: the guest has no init here.
const INSTALL: &str = r"set -e
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
mount -o ro LABEL=packages /media
export DEBIAN_FRONTEND=noninteractive
apt-get --yes --quiet --no-install-recommends -o APT::Sandbox::User=root install /media/*.deb >&2
umount /media
rm /usr/sbin/policy-rc.d
apt-get clean
";

/// Refuses what cannot be the name of a package (Debian's policy, 5.6.1).
pub fn check_names(names: &[String]) -> Result<()> {
    for name in names {
        let starts = name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        let others = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c);
        ensure!(
            name.len() >= 2 && starts && name.chars().all(others),
            "`{name}` is no name of a Debian package; write --rootfs debian:PACKAGE,…"
        );
    }
    Ok(())
}

/// The image with these packages.
pub fn file_name(names: &[String]) -> String {
    if names.is_empty() {
        return IMAGE.into();
    }
    let mut name = names.join("_");
    if name.len() > LONGEST {
        name = paths::digest_name(&Sha256::digest(name));
    }
    format!("with_{name}.img")
}

/// Makes the image `to` of that in `directory`.
pub fn install(
    host: &HostArguments,
    lock: &CacheLock,
    directory: &Path,
    names: &[String],
    to: &Path,
) -> Result<()> {
    image::check_space(directory, NEEDED_BYTES)?;
    let state = lock.unfinished("packages");
    let apt = Apt::new(&state, None)?.with_installed(&directory.join(STATUS));
    let step = Step::spinner("download packages for arm64");
    apt.run(&["update"]).context(
        "reading Debian's lists of packages failed; if the network went away, run the same command \
         again",
    )?;
    let words: Vec<&str> = names.iter().map(String::as_str).collect();
    let download = [
        "install",
        "--download-only",
        "--yes",
        "--no-install-recommends",
    ];
    apt.run(&[&download[..], &words].concat())
        .with_context(|| format!("downloading {} for arm64 failed", names.join(" ")))?;
    step.finish();
    let unfinished = lock.unfinished("with.img");
    image::copy(&directory.join(IMAGE), &unfinished)?;
    let archives = apt.archives();
    let (count, bytes) = packages_in(&archives)?;
    if count > 0 {
        image::check_space(directory, 6 * bytes)?;
        let disk = lock.unfinished("packages.img");
        let mut make = Command::new(MKE2FS);
        make.args(["-q", "-F", "-t", "ext4", "-L", "packages", "-d"]);
        make.arg(&archives).arg(&disk);
        make.arg(format!("{}M", (bytes >> 20) * 5 / 4 + 64));
        process::output(&mut make).context("making a disk of packages")?;
        image::in_guest(
            host,
            &Job {
                title: format!("install {count} packages in the guest"),
                image: &unfinished,
                packages: Some(&disk),
                script: INSTALL,
                lines: count,
                line: "Setting up ",
            },
        )
        .with_context(|| format!("installing {} in the guest", names.join(" ")))?;
    }
    Ok(fs::rename(unfinished, to)?)
}

/// How many packages there are, and their bytes.
fn packages_in(archives: &Path) -> Result<(u64, u64)> {
    let (mut count, mut bytes) = (0, 0);
    for entry in fs::read_dir(archives)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|it| it == "deb") {
            count += 1;
            bytes += entry.metadata()?.len();
        }
    }
    Ok((count, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_debians_policy() {
        let is_name = |it: &str| check_names(&[it.to_owned()]).is_ok();
        for name in ["redis-server", "g++", "libc6", "0ad", "python3.11"] {
            assert!(is_name(name), "{name}");
        }
        for other in ["", "a", "-o", "../x", "Redis", "a b", "a_b", "a;b", "+a"] {
            assert!(!is_name(other), "{other}");
        }
    }

    #[test]
    fn each_set_of_packages_has_an_image() {
        let name = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|it| (*it).to_owned()).collect();
            file_name(&names)
        };
        assert_eq!(name(&[]), "base.img");
        assert_eq!(name(&["a1", "b1"]), "with_a1_b1.img");
        let long = "x".repeat(200);
        assert!(name(&[&long]).len() < 60);
    }
}
