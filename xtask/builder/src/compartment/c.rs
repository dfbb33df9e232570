// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in C.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use donjon_machine::process;
use donjon_machine::qemu::SOURCES;

use super::{BUILDS, SCRIPT};
use crate::paths;

/// The compiler of programs in C.
pub const COMPILER: &str = "aarch64-linux-gnu-gcc";
/// What every program is linked with, and its header.
pub const RUNTIME: &str = "guests/runtime-c";
/// What every program is compiled with: nothing of Linux's, and nothing that is moved at run time.
pub const FLAGS: [&str; 10] = [
    "-std=gnu11",
    "-O2",
    "-march=armv8-a",
    "-mno-outline-atomics",
    "-mbranch-protection=none",
    "-ffreestanding",
    "-fno-asynchronous-unwind-tables",
    "-fno-pie",
    "-fno-stack-protector",
    "-fno-tree-loop-distribute-patterns",
];
/// Warnings, and no library of Linux's, nothing that is found at run time, and the same bytes
/// wherever they are made.
const LINK_FLAGS: [&str; 8] = [
    "-Wall",
    "-Wextra",
    "-nostdlib",
    "-no-pie",
    "-static",
    "-s",
    "-Wl,--build-id=none",
    "-Wl,-z,max-page-size=4096",
];

/// The sources at a path: itself, or what is in the folder.
pub fn sources(path: &Path) -> Result<Vec<PathBuf>> {
    let is_source = |it: &Path| it.extension().is_some_and(|it| it == "c" || it == "S");
    if path.is_file() {
        return Ok(Some(path.to_owned())
            .filter(|it| is_source(it))
            .into_iter()
            .collect());
    }
    let entries = fs::read_dir(path).with_context(|| format!("reading {}", path.display()))?;
    let mut found: Vec<_> = entries.filter_map(Result::ok).map(|it| it.path()).collect();
    found.retain(|it| is_source(it));
    found.sort();
    Ok(found)
}

/// Compiles and links them.
pub fn build(path: &Path, sources: &[PathBuf]) -> Result<PathBuf> {
    let name = path.file_stem().context("it has no name")?;
    let image = paths::in_root(BUILDS).join("c").join(name);
    let parent = image.parent().context("it has no folder")?;
    fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
    let folder = if path.is_dir() {
        path
    } else {
        path.parent().unwrap_or(path)
    };
    let runtime = paths::in_root(RUNTIME);
    // Another command may read what was built before.
    let new = parent.join(format!("{}.{}", name.to_string_lossy(), std::process::id()));
    let mut command = Command::new(COMPILER);
    command
        .args(FLAGS)
        .args(LINK_FLAGS)
        .arg(format!("-ffile-prefix-map={}=program", folder.display()))
        .arg(format!(
            "-ffile-prefix-map={}={SOURCES}",
            paths::root().display()
        ))
        .arg("-I")
        .arg(&runtime)
        .arg(format!("-T{}", paths::in_root(SCRIPT).display()))
        .args(self::sources(&runtime)?)
        .args(sources)
        .arg("-lgcc")
        .arg("-o")
        .arg(&new);
    let log = paths::in_root(format!(
        "target/logs/compartment-{}.log",
        name.to_string_lossy()
    ));
    process::logged(&mut command, &log, |_| ())?;
    fs::rename(&new, &image).with_context(|| format!("writing {}", image.display()))?;
    Ok(image)
}
