// SPDX-License-Identifier: MIT OR Apache-2.0
//! Root file systems that cannot be had: wrong names, packages that do not exist, a mirror that
//! fails, a full disk.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use donjon_builder::rootfs;
use donjon_machine::process;

use super::{private_mounts, refused};
use crate::scratch::{Scratch, expect_failure};

/// No such image, no such name, a machine that has nothing for it.
pub(super) fn wrong_names() -> Result<()> {
    let refused_root =
        |more: &[&str], words: &[&str]| refused(&[&["--rootfs"], more].concat(), words);
    refused_root(
        &["/does/not/exist"],
        &["no image /does/not/exist", "ext4", "debian[:PACKAGE"],
    )?;
    refused_root(&["debian:Redis"], &["`Redis` is no name"])?;
    let scratch = Scratch::new()?;
    let cloud = scratch.path().join("cloud.qcow2");
    fs::write(&cloud, b"QFI\xfb\0\0\0\x03")?;
    refused_root(&[&cloud.to_string_lossy()], &["qcow2", "qemu-img convert"])?;
    let odd = scratch.file("odd.img", &"x".repeat(3000))?;
    let card = [&odd.to_string_lossy(), "--machine", "raspi3b"];
    refused_root(&card, &["power of two", "truncate --size=1048576"])?;
    refused_root(&["debian", "--disk", "x"], &["--rootfs", "--disk"])?;
    refused_root(&["debian", "--firmware", "grub"], &["--firmware grub"])?;
    refused(&["--keep"], &["--rootfs"])?;
    refused(
        &["--network", "--machine", "raspi3b"],
        &["--network is not offered", "Raspberry Pi 3"],
    )
}

/// Neither debootstrap nor fakeroot has to be there for it.
pub(super) fn network_gone() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.program("debootstrap", "exit 1")?;
    scratch.program("fakeroot", "echo 'E: Failed getting release file'; exit 1")?;
    expect_failure(
        scratch.xtask(&["run", "--rootfs", "debian", "--exec", "true"]),
        &["Failed getting release file", "network", "again"],
    )
}

/// A cache whose base image is there already, in name: nothing is built over it.
fn cache_with_base(scratch: &Scratch) -> Result<()> {
    for tool in ["debootstrap", "fakeroot"] {
        scratch.program(tool, "exit 1")?;
    }
    let directory = rootfs::debian_directory()?;
    let name = directory.file_name().unwrap_or_default();
    let name = Path::new("cache/donjon/rootfs").join(name);
    for file in ["base.img", "status"] {
        scratch.file(&name.join(file).to_string_lossy(), "")?;
    }
    Ok(())
}

/// `run` with a package over it.
fn with_package(scratch: &Scratch, name: &str) -> Command {
    let root = format!("debian:{name}");
    let mut command = scratch.xtask(&["run", "--rootfs", &root, "--exec", "true"]);
    command.env("XDG_CACHE_HOME", scratch.path().join("cache"));
    command
}

/// APT does not know the package.
pub(super) fn no_such_package() -> Result<()> {
    let scratch = Scratch::new()?;
    cache_with_base(&scratch)?;
    let apt =
        "case \"$*\" in *install*) echo 'E: Unable to locate package nginxx'; exit 100;; esac";
    scratch.program("apt-get", apt)?;
    expect_failure(
        with_package(&scratch, "nginxx"),
        &["no package nginxx for arm64", "correct its name", "again"],
    )
}

/// The mirror does not answer: the lists of packages are empty, and every name is unknown.
pub(super) fn mirror_is_gone() -> Result<()> {
    let scratch = Scratch::new()?;
    cache_with_base(&scratch)?;
    // Nothing listens on that port.
    let sources = scratch.file("sources", "deb http://127.0.0.1:1/ bookworm main\n")?;
    let config = format!(
        "Dir::Etc::sourcelist \"{}\";\nDir::Etc::sourceparts \"/dev/null\";\nAcquire::Retries \"0\";\n",
        sources.display()
    );
    let mut command = with_package(&scratch, "redis-server");
    command.env("APT_CONFIG", scratch.file("apt.conf", &config)?);
    expect_failure(command, &["lists of packages failed", "mirror", "again"])
}

/// The mirror gives one package and no other. What it gave is there for the next run.
pub(super) fn mirror_fails() -> Result<()> {
    let scratch = Scratch::new()?;
    cache_with_base(&scratch)?;
    let first = scratch.path().join("first");
    let apt = format!(
        "case \"$*\" in *print-uris*) echo \"'http://x/a.deb' a.deb 1\";;
         *download-only*)
             if [ -e archives/a.deb ]; then echo there >'{}'; fi
             echo a >archives/a.deb
             echo 'E: Failed to fetch http://x/b.deb  500'; exit 100;; esac",
        first.display()
    );
    scratch.program("apt-get", &apt)?;
    let words = ["Failed to fetch", "again", "what was downloaded is kept"];
    expect_failure(with_package(&scratch, "redis"), &words)?;
    ensure!(!first.exists(), "the first run found a package");
    expect_failure(with_package(&scratch, "redis"), &words)?;
    ensure!(
        first.exists(),
        "the second run found no package of the first"
    );
    Ok(())
}

/// The guest writes more than the host has room for: it gets an error, and we a message, long
/// before the time limit.
pub fn guest_disk_full() -> Result<()> {
    let scratch = Scratch::new()?;
    let Some(mut command) = private_mounts() else {
        // This host gives us no mounts of our own: nothing can be full here.
        return Ok(());
    };
    let place = scratch.path().join("small");
    fs::create_dir(&place)?;
    let image = scratch.path().join("image");
    rootfs_image(&scratch, &image)?;
    // The mount is gone with the shell's name space.
    let script = format!(
        "mount -t tmpfs -o size=6m tmpfs '{0}' && cp --sparse=always '{1}' '{0}/image' && exec \"$@\"",
        place.display(),
        image.display()
    );
    let file = place.join("image");
    let write = "dd if=/dev/urandom of=/big bs=1M count=16; sync; true";
    let inner = scratch.xtask(&[
        "run",
        "--rootfs",
        &file.to_string_lossy(),
        "--keep",
        "--exec",
        write,
        "--timeout",
        "300",
    ]);
    command.args(["sh", "-c", &script, "sh"]);
    command.arg(inner.get_program()).args(inner.get_args());
    let output = process::both(&mut command)?;
    let said = String::from_utf8_lossy(&output.stderr);
    for words in ["could not write to its disk", "Make room"] {
        ensure!(said.contains(words), "it did not say `{words}`:\n{said}");
    }
    ensure!(!said.contains("--timeout"), "the guest hung:\n{said}");
    ensure!(
        !output.status.success(),
        "changes are lost, and the status is 0:\n{said}"
    );
    Ok(())
}

/// A file of 32 MiB with BusyBox in it.
fn rootfs_image(scratch: &Scratch, image: &Path) -> Result<()> {
    let root = scratch.path().join("root");
    for directory in ["bin", "etc"] {
        fs::create_dir_all(root.join(directory))?;
    }
    let program = root.join("bin/busybox");
    fs::copy(donjon_builder::guest::obtain_busybox()?, &program)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    for link in ["sh", "dd", "sync", "true"] {
        symlink("busybox", root.join("bin").join(link))?;
    }
    donjon_builder::disk::ext4(image, 32, Some(&root))
}
