// SPDX-License-Identifier: MIT OR Apache-2.0
//! Root file systems on a disk: images of a user's, with and without an init, and Debian.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run::prepare;
use donjon_builder::{disk, guest, paths as builder_paths};
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{Boot, DiskImage, Network};
use donjon_machine::said::{Said, says};
use donjon_machine::{paths, process};

use super::bad_input;
use super::scratch::{Scratch, expect_failure};
use super::test::Test;

const TIMEOUT: Duration = Duration::from_secs(600);
const MEBIBYTES: u32 = 32;
/// Downloads and configures a hundred packages in an emulated machine.
const DEBIAN_SECONDS: &str = "3600";

/// An image of ours.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let host = host.clone();
    vec![
        Test::beside("rootfs:file", move || file(&host)),
        Test::beside("rootfs:guest-disk-full", bad_input::rootfs::guest_disk_full),
    ]
}

/// Debian, from its packages to running servers.
pub fn debian() -> Test {
    Test::alone("rootfs:debian", || {
        let cache = fresh_cache()?;
        in_debian(&cache)?;
        no_such_package(&cache)
    })
    .long()
}

/// A cache in which everything is as in the user's, but no image of Debian: the test makes it, and
/// so configures each package over the inner domain. Packages that an earlier test downloaded stay.
fn fresh_cache() -> Result<PathBuf> {
    let base = paths::in_root("target/rootfs-debian");
    let cache = base.join("donjon");
    fs::create_dir_all(cache.join("rootfs"))?;
    remove_images(&cache.join("rootfs"))?;
    for entry in fs::read_dir(builder_paths::cache()?)? {
        let entry = entry?;
        let link = cache.join(entry.file_name());
        let is_own = ["rootfs", "tmp", "logs"]
            .iter()
            .any(|it| entry.file_name() == *it);
        if !is_own && fs::symlink_metadata(&link).is_err() {
            symlink(entry.path(), link)?;
        }
    }
    Ok(base)
}

/// Removes what was made of packages; what was downloaded stays.
fn remove_images(rootfs: &Path) -> Result<()> {
    for entry in fs::read_dir(rootfs)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("debian-") {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Each step of a user's with an image.
fn file(host: &HostArguments) -> Result<()> {
    let scratch = Scratch::new()?;
    let image = image(&scratch, "whole", true)?;
    let run =
        |file: &Path, keep, network, command: &str| on_disk(host, file, keep, network, command);
    let said = run(
        &image,
        false,
        false,
        "cat /marker; ls /sys/class/net; echo dropped >/note; exit 7",
    )?;
    ensure!(said.status == 7, "the status was lost: {}", said.text);
    said.expect_line("this is the disk")?;
    ensure!(
        !said.text.contains("eth0"),
        "there is a network card: {}",
        said.text
    );

    // Changes are dropped, or kept.
    run(&image, true, false, "[ ! -e /note ] && echo kept >/note")?.expect_success()?;
    let mut check = Command::new("/usr/sbin/e2fsck");
    process::output(check.arg("-fn").arg(&image))?;
    run(&image, false, false, "cat /note")?.expect_line("kept")?;

    let network = "ifconfig eth0 && ping -c 1 10.0.2.2 && cat /etc/resolv.conf";
    let said = run(&image, false, true, network)?;
    said.expect_success()?;
    said.expect_line("nameserver 10.0.2.3")?;

    init_of_the_image(&image)?;
    without_what_is_needed(host, &scratch)
}

/// The image's own first process.
fn init_of_the_image(image: &Path) -> Result<()> {
    let output = process::both(&mut ourselves("120", image, &[]))?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(
        text.contains("the init of the image, process 1"),
        "the image's own init did not run:\n{text}"
    );
    Ok(())
}

/// Images that something is missing in.
fn without_what_is_needed(host: &HostArguments, scratch: &Scratch) -> Result<()> {
    let refused = |file: &Path, words: &str| -> Result<()> {
        let said = on_disk(host, file, false, false, "echo it runs")?;
        ensure!(
            said.status == 1 && said.text.contains(words),
            "status {}, it did not say `{words}`: {}",
            said.status,
            said.text
        );
        Ok(())
    };
    let empty = image_of(scratch, "empty", |_| Ok(()))?;
    refused(&empty, "no /bin/sh")?;
    let garbage = scratch.path().join("garbage");
    fs::write(&garbage, vec![b'x'; 4 << 20])?;
    refused(&garbage, "no ext4 file system")?;
    let without_init = image(scratch, "without-init", false)?;
    let output = process::both(&mut ourselves("120", &without_init, &[]))?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(
        text.contains("the disk has no /sbin/init"),
        "it did not say what is missing:\n{text}"
    );
    Ok(())
}

/// `cargo xtask run --rootfs ROOT` with a limit of time.
pub fn ourselves(seconds: &str, root: &Path, more: &[&str]) -> Command {
    let mut command = Command::new("timeout");
    command.arg(seconds);
    command.arg(process::this_program());
    command.args(["run", "--rootfs"]).arg(root).args(more);
    command
}

/// What `command` says on a machine whose root directory is in `file`.
fn on_disk(
    host: &HostArguments,
    file: &Path,
    keep: bool,
    network: bool,
    command: &str,
) -> Result<Said> {
    let machine = Machine::new(&MachineArguments {
        append: network.then(|| "donjon.network".into()),
        ..MachineArguments::virt(Switch::Asid)
    })?;
    let parts = prepare(host, machine, &InnerVariant::sound(Switch::Asid))?;
    let file = file.to_owned();
    let boot = Boot {
        disk: Some(DiskImage::new(file, keep)),
        disk_is_root: true,
        network: network.then_some(Network::Virtio),
        ..parts.boot
    };
    says(&boot, command, TIMEOUT)
}

/// An image with BusyBox in it.
fn image(scratch: &Scratch, name: &str, with_init: bool) -> Result<PathBuf> {
    let busybox = guest::obtain_busybox()?;
    image_of(scratch, name, |root| {
        for directory in ["bin", "sbin", "etc"] {
            fs::create_dir(root.join(directory))?;
        }
        let program = root.join("bin/busybox");
        fs::copy(&busybox, &program)?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        for link in ["sh", "cat", "ls", "ping", "ifconfig", "echo", "poweroff"] {
            symlink("busybox", root.join("bin").join(link))?;
        }
        fs::write(root.join("marker"), "this is the disk\n")?;
        if with_init {
            let init = root.join("sbin/init");
            let script = "#!/bin/sh\necho the init of the image, process $$\npoweroff -f\n";
            fs::write(&init, script)?;
            fs::set_permissions(init, fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    })
}

fn image_of(
    scratch: &Scratch,
    name: &str,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let root = scratch.path().join(name);
    fs::create_dir(&root)?;
    fill(&root)?;
    let image = root.with_extension("img");
    disk::ext4(&image, MEBIBYTES, Some(&root))?;
    Ok(image)
}

/// systemd is up, two servers work, dpkg has configured everything, and the inner domain has
/// refused nothing.
fn in_debian(cache: &Path) -> Result<()> {
    const CHECK: &str = "\
set -e
echo target: $(systemctl is-active multi-user.target)
echo failed units: $(systemctl --failed --plain --no-legend | wc -l)
echo redis: $(redis-cli ping)
echo sqlite: $(sqlite3 :memory: 'select 6*7')
echo unconfigured: $(dpkg --audit | wc -l)
cat /sys/kernel/security/donjon/status
cat /sys/kernel/security/donjon/selftest";
    let more = ["--exec", CHECK, "--cpus", "2", "--timeout", "600"];
    let first = Path::new("debian:sqlite3");
    let mut command = ourselves(DEBIAN_SECONDS, first, &["--exec", "true"]);
    process::output(command.env("XDG_CACHE_HOME", cache))?;
    // The other package is added to the image of the first.
    let root = Path::new("debian:redis-server,sqlite3");
    let mut command = ourselves(DEBIAN_SECONDS, root, &more);
    let output = process::both(command.env("XDG_CACHE_HOME", cache))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let said = Said {
        text,
        status: u8::try_from(output.status.code().unwrap_or(255)).unwrap_or(255),
    };
    said.expect_success()?;
    let begin = said.text.lines().find(|it| it.starts_with("begin with "));
    ensure!(
        begin.is_some_and(|it| it.ends_with("/with_sqlite3.img")),
        "the image with sqlite3 was not used: {begin:?}"
    );
    for line in [
        "dma: strict",
        "target: active",
        "failed units: 0",
        "redis: PONG",
        "sqlite: 42",
        "unconfigured: 0",
        "refusals: 0",
        "state: running",
    ] {
        said.expect_line(line)?;
    }
    said.expect_self_test().map(|_| ())
}

/// Checks that the refusal of an unknown package names it; Debian's own archive says so.
fn no_such_package(cache: &Path) -> Result<()> {
    let root = Path::new("debian:no-such-package-at-all");
    let mut command = ourselves(DEBIAN_SECONDS, root, &["--exec", "true"]);
    command.env("XDG_CACHE_HOME", cache);
    expect_failure(command, &["no package no-such-package-at-all for arm64"])
}

#[cfg(test)]
mod tests {
    use super::remove_images;

    #[test]
    fn images_go_and_downloads_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["debian-bookworm-1", "downloads"] {
            let inner = folder.path().join(name);
            std::fs::create_dir(&inner).expect("a folder");
            std::fs::write(inner.join("file"), "").expect("a file");
        }
        remove_images(folder.path()).expect("removed");
        assert!(!folder.path().join("debian-bookworm-1").exists());
        assert!(folder.path().join("downloads/file").exists());
    }
}
