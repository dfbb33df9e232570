// SPDX-License-Identifier: MIT OR Apache-2.0
//! Equal sources make equal programs, wherever they are.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use donjon_abi::manifest::{DmaProfile, SwitchMode};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::{self, InnerVariant, Place};
use donjon_builder::kernel::{self, Variant};
use donjon_builder::pack;
use donjon_machine::arguments::Switch;
use donjon_machine::{paths, process};
use donjon_token::to_hexadecimal;
use sha2::{Digest, Sha256};

use super::scratch::Scratch;
use super::test::Test;

/// Takes a minute.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let host = host.clone();
    vec![Test::beside("reproducible:inner-domain", move || {
        inner_domain(&host)
    })]
}

/// Builds both kernels again.
pub fn long(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::alone("reproducible:kernel", move || kernels(&host)).long()
}

/// Inner domain and boot stage, built here and in a copy, and a boot image packed of each with one
/// Linux.
fn inner_domain(host: &HostArguments) -> Result<()> {
    let scratch = Scratch::new()?;
    let ours = Place::ours();
    let home = ours.cargo_home.as_ref();
    let home = home.context("neither CARGO_HOME nor HOME is set")?;
    let other = Place {
        sources: scratch.path().join("another place"),
        cargo_home: Some(scratch.path().join("libraries")),
    };
    copy_tree(&other.sources)?;
    if let Some(directory) = &other.cargo_home {
        copy_libraries(home, directory)?;
    }
    let variant = InnerVariant::sound(Switch::Asid);
    let here = bare::build_in(&ours, &variant)?;
    let there = bare::build_in(&other, &variant)?;
    same("inner domain", &here.inner, &there.inner)?;
    same("boot stage", &here.boot, &there.boot)?;
    let kernel = kernel::obtain(host, Variant::Donjon)?;
    let profile = pack::Profile {
        mode: SwitchMode::Asid,
        dma: DmaProfile::Strict,
        protected: None,
    };
    let [image, other_image] = ["here", "there"].map(|it| scratch.path().join(it).join("boot.img"));
    let image = pack::pack(&here.boot, &here.inner, profile, &kernel, &image)?;
    let other_image = pack::pack(&there.boot, &there.inner, profile, &kernel, &other_image)?;
    same("boot image", &image, &other_image)
}

/// The files that git knows, as they are now.
fn copy_tree(to: &Path) -> Result<()> {
    let root = paths::root();
    let mut list = Command::new("git");
    list.arg("-C").arg(root);
    list.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let list = process::output(&mut list).context("listing the files of this repository")?;
    for name in list.split('\0').filter(|it| !it.is_empty()) {
        let (from, to) = (root.join(name), to.join(name));
        if !from.is_file() {
            continue;
        }
        fs::create_dir_all(to.parent().unwrap_or(&to))?;
        fs::copy(&from, &to).with_context(|| format!("copying {name}"))?;
    }
    Ok(())
}

/// What cargo has downloaded. It unpacks the sources anew: a link to them would lead to their old
/// place.
fn copy_libraries(from: &Path, to: &Path) -> Result<()> {
    for name in ["registry/cache", "registry/index", "config.toml"] {
        let (from, to) = (from.join(name), to.join(name));
        if from.exists() {
            fs::create_dir_all(to.parent().unwrap_or(&to))?;
            process::output(Command::new("cp").arg("-r").arg(from).arg(to))?;
        }
    }
    Ok(())
}

/// Fails unless both kernels are the same when they are built in another directory.
fn kernels(host: &HostArguments) -> Result<()> {
    for (variant, option) in [(Variant::Donjon, None), (Variant::Native, Some("--native"))] {
        let scratch = Scratch::new()?;
        let here = kernel::obtain(host, variant)?;
        let mut command = scratch.xtask(&["kernel"]);
        command.args(option);
        command.env("XDG_CACHE_HOME", scratch.path().join("cache"));
        let there = process::output(&mut command)?;
        let name = format!("kernel {}", variant.name());
        same(&name, &here.image, Path::new(there.trim()))?;
    }
    Ok(())
}

/// Compares two files, and prints the digest that they have.
fn same(what: &str, one: &Path, other: &Path) -> Result<()> {
    let read = |it: &Path| fs::read(it).with_context(|| format!("reading {}", it.display()));
    let (a, b) = (read(one)?, read(other)?);
    let differs = a.iter().zip(&b).position(|(a, b)| a != b);
    ensure!(
        a == b,
        "{} has {} bytes and {} has {}; the first difference is at {differs:?}",
        one.display(),
        a.len(),
        other.display(),
        b.len()
    );
    println!(
        "       {what}: SHA-256 {}",
        to_hexadecimal(&Sha256::digest(&a))
    );
    Ok(())
}
