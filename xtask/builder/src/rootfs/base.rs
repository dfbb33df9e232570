// SPDX-License-Identifier: MIT OR Apache-2.0
//! A minimal Debian with systemd.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use donjon_machine::process;
use donjon_machine::tools::MKE2FS;
use sha2::{Digest, Sha256};

use super::image::{self, Job, MEBIBYTES};
use crate::arguments::HostArguments;
use crate::paths::{self, CacheLock};
use crate::progress::Step;

/// The image, and what dpkg says is installed in it.
pub const IMAGE: &str = "base.img";
/// See there.
pub const STATUS: &str = "status";

/// What a minimal Debian has not, and a login, devices and a network need.
const PACKAGES: &str = "systemd-sysv,udev,dbus,iproute2,netbase,procps";
/// Packages that debootstrap unpacks and configures in the guest. It downloads some more files than
/// these.
const PACKAGES_IN_ALL: u64 = 120;
/// Packages of the base image that were downloaded, in the directory of all images. debootstrap
/// takes from there what has the right digest.
const DOWNLOADS: &str = "downloads";
/// Unpacked packages and the image.
const NEEDED_BYTES: u64 = 1500 << 20;

/// Configures what the host unpacked. The password of root is empty: whoever is at the console of
/// this guest has its disk as well. Whether there is a network is for the host to say.
const SECOND_STAGE: &str = r"set -e
/debootstrap/debootstrap --second-stage >&2
echo donjon >/etc/hostname
printf '127.0.0.1\tlocalhost donjon\n::1\tlocalhost\n' >/etc/hosts
passwd --delete root >&2
cat >/etc/systemd/network/80-donjon.network <<END
[Match]
Type=ether
[Network]
Address=10.0.2.15/24
Gateway=10.0.2.2
END
echo 'nameserver 10.0.2.3' >/etc/resolv.conf
systemctl enable systemd-networkd >&2
systemctl disable systemd-networkd-wait-online >&2
apt-get clean
cat /var/lib/dpkg/status
";

/// The release of the host, which is that of the guest: the packages come from the host's archives.
fn suite() -> Result<String> {
    let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let field = |name: &str| {
        let value = |it: &str| {
            it.strip_prefix(name)?
                .strip_prefix('=')
                .map(|it| it.trim_matches('"').to_owned())
        };
        text.lines().find_map(value)
    };
    ensure!(
        field("ID").as_deref() == Some("debian"),
        "--rootfs debian needs a host with Debian, whose archives it uses; --rootfs FILE takes an \
         image from elsewhere"
    );
    field("VERSION_CODENAME").context("/etc/os-release names no VERSION_CODENAME")
}

/// The directory of this Debian in the cache. Whatever would make another image changes it.
pub fn name() -> Result<String> {
    let suite = suite()?;
    let mut digest = Sha256::new();
    for part in [PACKAGES, SECOND_STAGE, &MEBIBYTES.to_string()] {
        digest.update(part);
        digest.update([0]);
    }
    let digest = paths::digest_name(&digest.finalize());
    Ok(format!("debian-{suite}-{digest}"))
}

/// Makes image and list in `directory` unless they are there.
pub fn obtain(host: &HostArguments, lock: &CacheLock, directory: &Path) -> Result<()> {
    if directory.join(STATUS).exists() {
        return Ok(());
    }
    fs::create_dir_all(directory)?;
    image::check_space(directory, NEEDED_BYTES)?;
    let unpacked = lock.unfinished("root");
    let owners = lock.unfinished("owners");
    let downloads = directory.with_file_name(DOWNLOADS);
    fs::create_dir_all(&downloads)?;
    unpack(&unpacked, &owners, &downloads)?;
    let unfinished = lock.unfinished(IMAGE);
    let step = Step::spinner("make the file system");
    let mut make = Command::new("fakeroot");
    make.arg("-i").arg(&owners).arg("--");
    make.args([MKE2FS, "-q", "-F", "-t", "ext4", "-L", "donjon", "-d"]);
    make.arg(&unpacked).arg(&unfinished);
    process::output(make.arg(format!("{MEBIBYTES}M"))).context("making the file system")?;
    step.finish();
    let status = image::in_guest(
        host,
        &Job {
            title: "configure Debian in the guest".into(),
            image: &unfinished,
            packages: None,
            script: SECOND_STAGE,
            packages_in_all: PACKAGES_IN_ALL,
            lines: &["I: Unpacking ", "I: Configuring "],
        },
    )
    .context("configuring Debian's packages")?;
    fs::rename(unfinished, directory.join(IMAGE))?;
    // Last: it says that all is there.
    let list = lock.unfinished(STATUS);
    fs::write(&list, status)?;
    fs::rename(list, directory.join(STATUS))?;
    Ok(())
}

/// Downloads and unpacks. What belongs to whom is in `owners`, since all is the user's on the host.
fn unpack(to: &Path, owners: &Path, downloads: &Path) -> Result<()> {
    let suite = suite()?;
    let step = Step::counted(format!("download Debian ({suite}, arm64)"), PACKAGES_IN_ALL);
    let mut command = Command::new("fakeroot");
    command.arg("-s").arg(owners).arg("--");
    command.args([
        "debootstrap",
        "--arch=arm64",
        "--foreign",
        "--variant=minbase",
    ]);
    command.arg(format!("--include={PACKAGES}"));
    command.arg(format!("--cache-dir={}", downloads.display()));
    command.arg(&suite).arg(to).args(mirror(&suite));
    // Not every user's PATH leads to what it calls.
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
    let log = paths::cache()?.join("logs/debootstrap.log");
    process::logged(&mut command, &log, |line| {
        step.advance(u64::from(line.starts_with("I: Validating ")));
    })
    .context(
        "downloading Debian failed; if the network or the mirror went away, run the same command \
         again: what was downloaded is kept",
    )?;
    step.finish();
    Ok(())
}

/// The archive that the host itself uses; nothing for debootstrap's own choice.
fn mirror(suite: &str) -> Option<String> {
    let mut targets = Command::new("apt-get");
    let format = "$(RELEASE) $(COMPONENT) $(REPO_URI)";
    targets.args(["indextargets", "--format", format]);
    let said = process::output(targets.arg("Created-By: Packages")).ok()?;
    mirror_in(&said, suite)
}

fn mirror_in(targets: &str, suite: &str) -> Option<String> {
    targets.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let right = words.next()? == suite && words.next()? == "main";
        let place = words.next()?;
        (right && place.starts_with("http")).then(|| place.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::mirror_in;

    #[test]
    fn the_mirror_is_that_of_the_release_itself() {
        let targets = "bookworm-updates main http://one/debian/\n\
            bookworm contrib http://two/debian/\nbookworm main mirror+file:/etc/list\n\
            bookworm main http://three/debian/\n";
        let found = mirror_in(targets, "bookworm");
        assert_eq!(found.as_deref(), Some("http://three/debian/"));
        assert_eq!(mirror_in(targets, "trixie"), None);
    }
}
