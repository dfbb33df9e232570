// SPDX-License-Identifier: MIT OR Apache-2.0
//! Building the kernel's selftests, and a disk image of them, into the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::kernel::{self, CROSS, Variant};
use donjon_builder::paths::{self, CacheLock};
use donjon_builder::progress::Step;
use donjon_builder::{disk, guest};
use donjon_machine::process;
use sha2::{Digest, Sha256};

use super::list::{COLLECTIONS, PROGRAMS};

/// Changes when the way of building does.
const RECIPE: &str = "1";
/// Room for the programs and for what they write.
const MEBIBYTES: u32 = 384;
/// Libraries that some programs need and the cross compiler does not bring.
const LIBRARIES: [&str; 2] = ["libcap-dev:arm64", "libnuma-dev:arm64"];

/// The disk image, built if the cache does not have it.
pub fn image(host: &HostArguments) -> Result<PathBuf> {
    let compiler = process::output(Command::new(format!("{CROSS}gcc")).arg("--version"))?;
    let mut hash = Sha256::new();
    let names = PROGRAMS.iter().map(|it| it.name);
    for word in [RECIPE, &compiler].into_iter().chain(names) {
        hash.update(word.len().to_le_bytes());
        hash.update(word);
    }
    hash.update(kernel::source_identity(host)?);
    let key = paths::digest_name(&hash.finalize());
    let all = paths::cache()?.join("selftests");
    let place = all.join(key);
    let image = place.join("disk");
    if image.exists() {
        return Ok(image);
    }
    let libraries = guest::obtain_libraries(
        "selftest-libraries",
        &LIBRARIES,
        "usr/include/sys/capability.h",
    )?;
    // Takes the lock of the cache for itself.
    let tree = kernel::source_tree(host, Variant::Native)?;
    let lock = CacheLock::take()?;
    if !image.exists() {
        let unfinished = lock.unfinished("selftests");
        build(&tree, &libraries, &unfinished)?;
        // Those of other sources and lists are of no use any more.
        let _ = fs::remove_dir_all(&all);
        fs::create_dir_all(&all)?;
        fs::rename(unfinished.join("result"), &place)?;
        fs::remove_dir_all(unfinished)?;
    }
    Ok(image)
}

fn build(tree: &Path, libraries: &Path, place: &Path) -> Result<()> {
    let step = Step::spinner("build the kernel's selftests");
    let log = paths::cache()?.join("logs/selftests.log");
    let output = place.join("output");
    fs::create_dir_all(&output)?;
    // Some are built beside their sources, so the sources are a copy that shares their contents.
    let copy = place.join("tree");
    let mut link = Command::new("cp");
    process::output(link.args(["--archive", "--link"]).arg(tree).arg(&copy))?;
    process::logged(make(&copy, &output).arg("headers"), &log, |_| ())?;

    let usr = libraries.join("usr");
    let mut command = make(&copy.join("tools/testing/selftests"), &output);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    command.args(["--keep-going", &format!("-j{threads}")]);
    command.arg(format!("TARGETS={}", COLLECTIONS.join(" ")));
    command.arg("ARM64_SUBTARGETS=abi signal tags");
    command.arg(format!(
        "CC={CROSS}gcc -static -isystem {} -L{}",
        usr.join("include").display(),
        usr.join("lib/aarch64-linux-gnu").display()
    ));
    // Some programs that are not on the list cannot be built here, which fails the whole.
    let status = process::logged(&mut command, &log, |_| ());

    let files = place.join("result/files");
    for program in &PROGRAMS {
        let built = output.join("kselftest").join(program.name);
        if !built.exists() {
            status?;
            anyhow::bail!("the build made no {}; see {}", program.name, log.display());
        }
        let target = files.join(program.name);
        fs::create_dir_all(target.parent().context("a program without a directory")?)?;
        let mut strip = Command::new(format!("{CROSS}strip"));
        process::output(strip.arg("-o").arg(&target).arg(&built))?;
    }
    let image = place.join("result/disk");
    disk::ext4(&image, MEBIBYTES, Some(&files))?;
    ensure!(image.exists(), "no image of the selftests");
    fs::remove_dir_all(&files)?;
    step.finish();
    Ok(())
}

fn make(directory: &Path, output: &Path) -> Command {
    let mut command = Command::new("make");
    command.arg("-C").arg(directory);
    command.arg(format!("O={}", output.display()));
    command.args(["ARCH=arm64", &format!("CROSS_COMPILE={CROSS}")]);
    // Cargo's make flags would bind the build to cargo's job server.
    for name in ["MAKEFLAGS", "MFLAGS", "CARGO_MAKEFLAGS"] {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C");
    command
}
