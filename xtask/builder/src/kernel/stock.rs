// SPDX-License-Identifier: MIT OR Apache-2.0
//! Is the patched Linux, with the option off, the Linux that it was?
//!
//! The objects that the series touches, and some that include the headers it touches, are built
//! from the patched and from the unpatched tree and disassembled: with our options, and with those
//! of distributions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use donjon_machine::process;

use super::tree::{self, Tree};
use super::{CROSS, Recipe, Variant, build, overlay, source};
use crate::arguments::HostArguments;
use crate::paths::{self, CacheLock};

/// Objects whose sources include touched headers.
const BYSTANDERS: [&str; 6] = [
    "arch/arm64/kernel/head.o",
    "arch/arm64/kernel/smp.o",
    "arch/arm64/kernel/process.o",
    "arch/arm64/mm/init.o",
    "arch/arm64/mm/cache.o",
    "mm/vmalloc.o",
];

/// Objects that are built with the options of distributions alone.
const OPTIONAL: [&str; 6] = [
    "arch/arm64/kernel/pointer_auth.o",
    "arch/arm64/kernel/sleep.o",
    "arch/arm64/kernel/suspend.o",
    "drivers/base/arch_numa.o",
    "drivers/cpuidle/cpuidle-psci.o",
    "drivers/firmware/efi/efi.o",
];
/// Options of distributions.
const DISTRIBUTION: &str = "kernel-patch/config/distribution.config";

/// Whose options the objects are built with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Options {
    /// Ours.
    Ours,
    /// Options of distributions over ours.
    Distribution,
}

/// Names the objects whose instructions differ, and how many were compared.
pub fn differences(host: &HostArguments, options: Options) -> Result<(Vec<String>, usize)> {
    let source = source::find(host)?;
    let mut recipe = Recipe::of(Variant::Native);
    let lock = CacheLock::take()?;
    let patched = tree::prepare(&lock, &source, &recipe)?;
    let place = lock.unfinished("stock");
    let stock = unpatched(&patched, &place)?;
    let objects = objects(&recipe, options)?;
    let with = if options == Options::Ours {
        paths::cache()?
            .join("build")
            .join(format!("{}-native", patched.name))
    } else {
        recipe.fragments.push(paths::in_root(DISTRIBUTION));
        place.join("patched")
    };
    let trees = [(&patched, &with), (&stock, &place.join("output"))];
    let different = compare(&recipe, &objects, &trees)?;
    fs::remove_dir_all(&place)?;
    Ok((different, objects.len()))
}

/// What is compared.
fn objects(recipe: &Recipe, options: Options) -> Result<Vec<String>> {
    let mut objects = touched_objects(recipe)?;
    let all = objects.len();
    if options == Options::Ours {
        objects.retain(|it| !OPTIONAL.contains(&it.as_str()));
        ensure!(
            all == objects.len() + OPTIONAL.len(),
            "the series does not touch each of {}",
            OPTIONAL.join(" ")
        );
    }
    objects.extend(BYSTANDERS.map(str::to_owned));
    Ok(objects)
}

/// Builds `objects` in both trees, and names those that differ.
fn compare(
    recipe: &Recipe,
    objects: &[String],
    trees: &[(&Tree, &PathBuf); 2],
) -> Result<Vec<String>> {
    let log = paths::in_root("target/logs/kernel-off.log");
    let mut texts = Vec::new();
    for (tree, output) in trees {
        fs::create_dir_all(output)?;
        build::objects(tree, output, recipe, Variant::Native, objects, &log)?;
        let texts_of: Result<Vec<String>> = objects
            .iter()
            .map(|it| instructions(&output.join(it)))
            .collect();
        texts.push(texts_of?);
    }
    let pairs = texts[0].iter().zip(&texts[1]);
    let different = objects
        .iter()
        .zip(pairs)
        .filter(|(_, (with, without))| with != without)
        .map(|(object, _)| object.clone());
    Ok(different.collect())
}

/// The tree of `patched` before it was patched, sharing all untouched files with it.
fn unpatched(patched: &Tree, place: &Path) -> Result<Tree> {
    let from = patched.path.parent().context("the tree has no place")?;
    process::output(
        Command::new("cp")
            .args(["--archive", "--link"])
            .arg(from)
            .arg(place),
    )?;
    // Replaces files, never writes into them, so the shared ones stay.
    overlay::undo(place)?;
    Ok(Tree {
        path: place.join("tree"),
        name: "stock".to_owned(),
        version: patched.version,
    })
}

/// What the patched sources are compiled to.
fn touched_objects(recipe: &Recipe) -> Result<Vec<String>> {
    let mut objects = Vec::new();
    for patch in recipe.patches()? {
        let text = fs::read_to_string(&patch)?;
        for path in text.lines().filter_map(|line| line.strip_prefix("+++ b/")) {
            let Some(stem) = path.strip_suffix(".c").or(path.strip_suffix(".S")) else {
                continue;
            };
            let object = match stem {
                // Generates a header; has no code.
                "arch/arm64/kernel/asm-offsets" => continue,
                _ if stem.contains("/pi/") => format!("{stem}.pi.o"),
                _ if stem.ends_with(".lds") => continue,
                _ => format!("{stem}.o"),
            };
            if !objects.contains(&object) {
                objects.push(object);
            }
        }
    }
    ensure!(!objects.is_empty(), "the series touches no source file");
    Ok(objects)
}

/// Every instruction and relocation, without the name of the file.
fn instructions(object: &Path) -> Result<String> {
    let objdump = || Command::new(format!("{CROSS}objdump"));
    let headers = process::output(objdump().arg("--section-headers").arg(object))?;
    // The identity-mapped code is in a section without the flag of code.
    let sections = headers
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter(|name| name.contains("text"));
    let mut command = objdump();
    command.args(["--disassemble-all", "--reloc", "--no-show-raw-insn"]);
    for section in sections {
        command.arg(format!("--section={section}"));
    }
    let text = process::output(command.arg(object))?;
    ensure!(
        text.lines().count() > 10,
        "{} has no code to compare",
        object.display()
    );
    Ok(text.lines().skip(2).collect::<Vec<_>>().join("\n"))
}
