// SPDX-License-Identifier: MIT OR Apache-2.0
//! Further packages: the host finds and downloads them, the guest installs them.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Error, Result, ensure};
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
/// Said of a download that failed.
const AGAIN: &str = "if the network or the mirror went away, run the same command again: what was \
                     downloaded is kept";
/// What apt-get says of packages that exclude each other, or need what the archive does not have.
const CONFLICT: &str = "unmet dependencies";
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
        // apt-get takes a minus sign at the end for an order to remove the package.
        let ends = !name.ends_with('-');
        ensure!(
            name.len() >= 2 && starts && ends && name.chars().all(others),
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
    // It stays if this ends early: the next run downloads what is missing.
    let state = directory.join(file_name(names)).with_extension("download");
    let apt = Apt::new(&state, None)?.with_installed(&directory.join(STATUS));
    download(&apt, names)?;
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
    fs::rename(unfinished, to)?;
    fs::remove_dir_all(&state).with_context(|| format!("removing {}", state.display()))
}

/// Downloads what `names` need.
fn download(apt: &Apt, names: &[String]) -> Result<()> {
    let step = Step::spinner("read Debian's lists of packages");
    apt.run(&["update"])
        .context("reading Debian's lists of packages failed")
        .context(AGAIN)?;
    step.finish();
    let words: Vec<&str> = names.iter().map(String::as_str).collect();
    let install = ["install", "--yes", "--no-install-recommends"];
    let install = |how: &'static str| [&install[..], &[how], &words].concat();
    let mut to_come = 0;
    apt.run_watched(&install("--print-uris"), |line| {
        to_come += u64::from(line.starts_with('\''));
    })
    .map_err(|error| explain(error, names))?;
    let step = Step::counted("download packages for arm64", to_come);
    apt.run_watched(&install("--download-only"), |line| {
        step.advance(u64::from(line.starts_with("Get:")));
    })
    .map_err(|error| explain(error, names))?;
    // A version that the archive does not have any more is left from an earlier run.
    apt.run(&["autoclean"])?;
    step.finish();
    Ok(())
}

/// What to do about an error of apt-get's.
fn explain(error: Error, names: &[String]) -> Error {
    let said = format!("{error:#}");
    if said.contains(CONFLICT) {
        let names = names.join(" ");
        return error.context(format!(
            "{names} cannot be installed: APT says below what is missing or excludes another one"
        ));
    }
    let missing = missing(&said);
    if missing.is_empty() {
        let what = format!("downloading {} for arm64 failed", names.join(" "));
        return error.context(what).context(AGAIN);
    }
    error.context(format!(
        "the sources of this host's APT have no package {} for arm64: correct its name \
         (`apt-cache search WORD` finds names), or add the component that has it to \
         /etc/apt/sources.list or /etc/apt/sources.list.d; then run the same command again",
        missing.join(", ")
    ))
}

/// The packages that apt-get does not know.
fn missing(said: &str) -> Vec<String> {
    let name = |line: &str| {
        let unknown = line.strip_prefix("E: Unable to locate package ");
        let unknown = unknown.or_else(|| {
            let line = line.strip_prefix("E: Package '")?;
            line.strip_suffix("' has no installation candidate")
        });
        unknown.map(|it| it.trim().to_owned())
    };
    said.lines().filter_map(name).collect()
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
        for other in [
            "", "a", "-o", "../x", "Redis", "a b", "a_b", "a;b", "+a", "bash-",
        ] {
            assert!(!is_name(other), "{other}");
        }
    }

    #[test]
    fn a_package_that_does_not_exist_is_named() {
        let said = "Reading package lists...\nE: Unable to locate package nginxx\n\
                    E: Package 'tcc' has no installation candidate\n`apt-get` failed";
        let names = ["nginxx", "redis", "tcc"].map(str::to_owned);
        let said = format!("{:#}", explain(anyhow::anyhow!(said), &names));
        assert!(said.contains("no package nginxx, tcc for arm64"), "{said}");
        assert!(!said.contains("no package nginxx, redis"), "{said}");
        assert!(!said.contains(AGAIN), "{said}");
    }

    #[test]
    fn packages_that_exclude_each_other_are_not_asked_for_again() {
        let said = "The following packages have unmet dependencies:\n exim4 : Conflicts: \
                    mail-transport-agent\nE: Unable to correct problems, you have held broken \
                    packages.\n`apt-get` failed";
        let names = ["exim4", "postfix"].map(str::to_owned);
        let said = format!("{:#}", explain(anyhow::anyhow!(said), &names));
        assert!(
            said.starts_with("exim4 postfix cannot be installed"),
            "{said}"
        );
        assert!(!said.contains(AGAIN), "{said}");
    }

    #[test]
    fn a_mirror_that_fails_is_asked_again() {
        let said = "E: Failed to fetch http://x/y.deb  500\n`apt-get` failed";
        let said = format!(
            "{:#}",
            explain(anyhow::anyhow!(said), &["redis".to_owned()])
        );
        assert!(said.contains(AGAIN) && said.contains("redis"), "{said}");
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
