// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running the kernel's own build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use donjon_machine::process;

use super::tree::Tree;
use super::{CROSS, Recipe, Variant, config, walk};
use crate::paths::{self, CacheLock};
use crate::progress::Step;

/// Device trees of boards for which QEMU makes none, as the kernel's build names them.
pub const DEVICE_TREES: &[&str] = &[
    "arm/fvp-base-revc.dtb",
    "arm/juno-r1.dtb",
    "broadcom/bcm2837-rpi-3-b.dtb",
    "broadcom/bcm2837-rpi-3-b-plus.dtb",
    "broadcom/bcm2711-rpi-4-b.dtb",
];

/// Lines that a build from nothing prints, for the progress bar.
const EXPECTED_STEPS: u64 = 1600;

/// Builds `variant` of `tree` and moves what comes out to `place`, unless it contains an
/// instruction that the inner domain would refuse.
pub fn build(
    lock: &CacheLock,
    tree: &Tree,
    variant: Variant,
    recipe: &Recipe,
    place: &Path,
) -> Result<()> {
    let cache = paths::cache()?;
    let output = cache
        .join("build")
        .join(format!("{}-{}", tree.name, recipe.directory));
    let log = cache.join(format!("logs/kernel-{}.log", variant.name()));
    everything(tree, &output, recipe, variant, &log)?;

    let unfinished = lock.unfinished("kernel");
    fs::create_dir_all(&unfinished)?;
    for (from, to) in [
        ("arch/arm64/boot/Image", "Image"),
        ("vmlinux", "vmlinux"),
        (".config", "config"),
        ("include/config/kernel.release", "release"),
    ] {
        fs::copy(output.join(from), unfinished.join(to))
            .with_context(|| format!("the kernel's build made no {from}; see {}", log.display()))?;
    }
    let modules = unfinished.join("modules");
    fs::create_dir_all(&modules)?;
    if recipe.modules {
        keep_modules(&output, &modules)?;
    }
    keep_device_trees(&output, &unfinished.join("dtbs"))?;
    if variant != Variant::Native {
        super::check_code(&unfinished.join("vmlinux"), &modules)?;
    }
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(fs::rename(unfinished, place)?)
}

/// Builds Image, modules and device trees of `variant` in `output`, from what is there already.
///
/// # Errors
///
/// If the configuration does not take effect, or the build fails.
pub fn everything(
    tree: &Tree,
    output: &Path,
    recipe: &Recipe,
    variant: Variant,
    log: &Path,
) -> Result<()> {
    fs::create_dir_all(output)?;
    let mark = output.join(".donjon-building");
    if mark.exists() {
        remove_last_objects(output)?;
    }
    fs::write(&mark, "")?;
    configure(tree, output, recipe, variant, log)?;

    let step = Step::counted(
        format!("build Linux {} ({})", tree.version, variant.name()),
        EXPECTED_STEPS,
    );
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let mut command = make(tree, output, variant);
    command
        .arg(format!("-j{threads}"))
        .arg("Image")
        .args(recipe.modules.then_some("modules"))
        .args(DEVICE_TREES);
    process::logged(&mut command, log, |line| {
        if line.starts_with("  ") {
            step.advance(1);
        }
    })?;
    step.finish();
    Ok(fs::remove_file(&mark)?)
}

/// Copies the modules of this build, all into one directory. What an earlier configuration left in
/// `output` is not in the order of modules.
fn keep_modules(output: &Path, place: &Path) -> Result<()> {
    let order = fs::read_to_string(output.join("modules.order"))?;
    for object in order.lines() {
        let module = output.join(object).with_extension("ko");
        let name = module.file_name().context("a module without a name")?;
        fs::copy(&module, place.join(name))
            .with_context(|| format!("the kernel's build made no {}", module.display()))?;
    }
    Ok(())
}

/// Copies the device trees, all into one directory.
fn keep_device_trees(output: &Path, place: &Path) -> Result<()> {
    fs::create_dir_all(place)?;
    for tree in DEVICE_TREES {
        let from = output.join("arch/arm64/boot/dts").join(tree);
        let name = from.file_name().context("a device tree without a name")?;
        fs::copy(&from, place.join(name))
            .with_context(|| format!("the kernel's build made no {}", from.display()))?;
    }
    Ok(())
}

/// Configures and builds single objects.
pub fn objects(
    tree: &Tree,
    output: &Path,
    recipe: &Recipe,
    variant: Variant,
    objects: &[String],
    log: &Path,
) -> Result<()> {
    configure(tree, output, recipe, variant, log)?;
    let step = Step::spinner("build single objects of Linux");
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let mut command = make(tree, output, variant);
    process::logged(
        command.arg(format!("-j{threads}")).args(objects),
        log,
        |_| (),
    )?;
    step.finish();
    Ok(())
}

/// Configures, and refuses fragments that contradict each other or the kernel.
pub fn configure(
    tree: &Tree,
    output: &Path,
    recipe: &Recipe,
    variant: Variant,
    log: &Path,
) -> Result<()> {
    let step = Step::spinner("configure Linux");
    let file = output.join(".config");
    match &recipe.base {
        Some(base) => {
            fs::copy(base, &file).with_context(|| format!("copying {}", base.display()))?;
        }
        None => process::logged(make(tree, output, variant).arg("tinyconfig"), log, |_| ())?,
    }
    config::merge(&file, &recipe.fragments)?;
    process::logged(make(tree, output, variant).arg("olddefconfig"), log, |_| ())?;
    step.vanish();
    config::check(&file, &recipe.fragments)
}

/// The kernel's `make` in `output`, with what every build of `variant` has in common.
pub fn make(tree: &Tree, output: &Path, variant: Variant) -> Command {
    let mut command = Command::new("make");
    command.arg("-C").arg(&tree.path);
    command.arg(format!("O={}", output.display()));
    command.args([
        "ARCH=arm64",
        &format!("CROSS_COMPILE={CROSS}"),
        "LOCALVERSION=",
    ]);
    // The same sources make the same Image, byte for byte.
    command.env("KBUILD_BUILD_TIMESTAMP", "Thu Jan  1 00:00:00 UTC 1970");
    command
        .env("KBUILD_BUILD_USER", "donjon")
        .env("KBUILD_BUILD_HOST", "donjon");
    command.env("KBUILD_BUILD_VERSION", "1").env("LC_ALL", "C");
    // Kconfig shows the options that weaken a kernel to those alone who say this.
    match variant {
        Variant::Weakened(_) => command.env("DONJON_WEAKEN", "y"),
        Variant::Donjon | Variant::Native => command.env_remove("DONJON_WEAKEN"),
    };
    // Cargo's make flags would bind the build to cargo's job server.
    command
        .env_remove("MAKEFLAGS")
        .env_remove("MFLAGS")
        .env_remove("CARGO_MAKEFLAGS");
    command
}

/// An earlier build was killed, perhaps by SIGKILL or a power cut: objects that it wrote last may
/// be half, yet look finished.
fn remove_last_objects(output: &Path) -> Result<()> {
    let mut objects: Vec<(SystemTime, PathBuf)> = Vec::new();
    for path in walk::files(output)? {
        if path.extension().is_some_and(|it| it == "o" || it == "a") {
            objects.push((fs::metadata(&path)?.modified()?, path));
        }
    }
    let Some(newest) = objects.iter().map(|(time, _)| *time).max() else {
        return Ok(());
    };
    let suspect = newest - Duration::from_secs(30);
    for (_, path) in objects.iter().filter(|(time, _)| *time >= suspect) {
        fs::remove_file(path)?;
    }
    Ok(())
}
