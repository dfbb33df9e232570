// SPDX-License-Identifier: MIT OR Apache-2.0
//! Further packages: the host finds and downloads them, the guest installs them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Error, Result, anyhow, ensure};
use donjon_machine::process;
use donjon_machine::tools::MKE2FS;
use sha2::{Digest, Sha256};

use super::base::IMAGE;
use super::image::{self, Job};
use super::start::{Start, list_of};
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
cat /var/lib/dpkg/status
";
/// What dpkg says of each package that it goes through.
const LINES: [&str; 2] = ["Unpacking ", "Setting up "];

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
    let name = Start::name(names);
    if name.len() <= LONGEST {
        return name;
    }
    Start::name(&[paths::digest_name(&Sha256::digest(name))])
}

/// Makes the image `to` of one in `directory` that has most of the packages. Its list, beside it,
/// lets others begin with it.
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
    let starts = Start::all(directory, names);
    let (start, apt, wanted) = choose(&state, starts, names)?;
    download(&apt, names)?;
    let unfinished = lock.unfinished("with.img");
    image::copy(&start.image, &unfinished)?;
    let archives = apt.archives();
    keep_only(&archives, &wanted)?;
    let (count, bytes) = packages_in(&archives)?;
    ensure!(
        count == wanted.len() as u64,
        "{} has {count} of the {} packages that apt-get planned; remove it and run the same command again",
        archives.display(),
        wanted.len()
    );
    let mut list = fs::read_to_string(&start.status)?;
    if count > 0 {
        image::check_space(directory, 6 * bytes)?;
        let disk = lock.unfinished("packages.img");
        let mut make = Command::new(MKE2FS);
        make.args(["-q", "-F", "-t", "ext4", "-L", "packages", "-d"]);
        make.arg(&archives).arg(&disk);
        make.arg(format!("{}M", (bytes >> 20) * 5 / 4 + 64));
        process::output(&mut make).context("making a disk of packages")?;
        list = image::in_guest(
            host,
            &Job {
                title: format!("install {count} packages in the guest"),
                image: &unfinished,
                packages: Some(&disk),
                script: INSTALL,
                packages_in_all: count,
                lines: &LINES,
            },
        )
        .with_context(|| format!("installing {} in the guest", names.join(" ")))?;
    }
    let unfinished_list = lock.unfinished("with.status");
    fs::write(&unfinished_list, list)?;
    fs::rename(unfinished_list, list_of(to))?;
    // Last: it says that all is there.
    fs::rename(unfinished, to)?;
    fs::remove_dir_all(&state).with_context(|| format!("removing {}", state.display()))
}

/// The first of `starts` to which the packages can be added, with apt-get for it and the names of
/// what has to be installed there. Only the base image may lose a package on the way.
fn choose(state: &Path, starts: Vec<Start>, names: &[String]) -> Result<(Start, Apt, Plan)> {
    let step = Step::spinner("read Debian's lists of packages");
    Apt::new(state, None)?
        .run(&["update"])
        .context("reading Debian's lists of packages failed")
        .context(AGAIN)?;
    step.finish();
    let mut failed = None;
    for start in starts {
        let apt = Apt::new(state, None)?.with_installed(&start.status);
        let mut how = vec!["--simulate"];
        if !start.is_base() {
            how.push("--no-remove");
        }
        let mut plan = Plan::new();
        match apt.run_watched(&install_words(&how, names), |line| {
            plan.extend(to_install(line));
        }) {
            Ok(()) => {
                if !start.is_base() {
                    eprintln!("begin with {}", start.image.display());
                }
                return Ok((start, apt, plan));
            }
            Err(error) => failed = Some(error),
        }
    }
    Err(match failed {
        Some(error) => explain(error, names),
        None => anyhow!("there is no image to begin with"),
    })
}

/// Names of packages that are to be installed.
type Plan = BTreeSet<String>;

/// The package that a line of a simulation installs: `Inst NAME [OLD] (NEW …)`.
fn to_install(line: &str) -> Option<String> {
    let name = line.strip_prefix("Inst ")?.split_whitespace().next()?;
    Some(name.to_owned())
}

/// Removes packages that an earlier run needed, which began with another image.
fn keep_only(archives: &Path, wanted: &Plan) -> Result<()> {
    for entry in fs::read_dir(archives)? {
        let path = entry?.path();
        let is_package = path.extension().is_some_and(|it| it == "deb");
        if is_package && !is_of(&path, wanted) {
            fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        }
    }
    Ok(())
}

/// Whether a file `NAME_VERSION_ARCHITECTURE.deb` is of one of the packages.
fn is_of(path: &Path, wanted: &Plan) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split_once('_')
        .is_some_and(|(name, _)| wanted.contains(name))
}

/// apt-get's words for an installation of `names`.
fn install_words<'a>(how: &[&'a str], names: &'a [String]) -> Vec<&'a str> {
    let mut words = vec!["install", "--yes", "--no-install-recommends"];
    words.extend(how);
    words.extend(names.iter().map(String::as_str));
    words
}

/// Downloads what `names` need.
fn download(apt: &Apt, names: &[String]) -> Result<()> {
    let install = |how: &'static str| install_words(&[how], names);
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
    fn a_simulation_says_what_is_installed_and_nothing_else_stays() {
        let said = "NOTE: This is only a simulation!\n\
                    Inst liblua5.1-0 (5.1.5-9 Debian:12.1/stable [arm64])\n\
                    Inst redis-server [5:7.0.1-1] (5:7.0.15-1 Debian:12.1/stable [arm64])\n\
                    Conf redis-server (5:7.0.15-1 Debian:12.1/stable [arm64])\n";
        let plan: Plan = said.lines().filter_map(to_install).collect();
        let names: Vec<&str> = plan.iter().map(String::as_str).collect();
        assert_eq!(names, ["liblua5.1-0", "redis-server"]);
        let folder = tempfile::tempdir().expect("a folder");
        for name in [
            "redis-server_5%3a7.0.15-1_arm64.deb",
            "redis-server-dev_1_arm64.deb",
            "old_1_arm64.deb",
            "lock",
        ] {
            fs::write(folder.path().join(name), "").expect("a file");
        }
        keep_only(folder.path(), &plan).expect("pruned");
        let mut left: Vec<String> = fs::read_dir(folder.path())
            .expect("a folder")
            .map(|it| it.expect("a file").file_name().display().to_string())
            .collect();
        left.sort();
        assert_eq!(left, ["lock", "redis-server_5%3a7.0.15-1_arm64.deb"]);
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
