// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links programs, so that the linker changes no instruction.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use donjon_builder::compartment::SCRIPT;
use donjon_builder::compartment::c::COMPILER;
use donjon_machine::{paths, process};

const PROCESS: &str = "xtask/flow/runtime/process.ld";
const HOST: &str = "xtask/flow/runtime/host.c";

/// The linker itself: the compiler would pass --fix-cortex-a53-843419 to it, which moves
/// instructions away from the records that belong to them.
const LINKER: &str = "aarch64-linux-gnu-ld";

const FLAGS: [&str; 6] = [
    "-static",
    "--build-id=none",
    "--emit-relocs",
    "--no-relax",
    "-z",
    "max-page-size=4096",
];

/// Links a program for a compartment.
pub fn compartment(objects: &[PathBuf], program: &Path) -> Result<()> {
    link(objects, SCRIPT, program)
}

/// Links a program with its host.
pub fn process(objects: &[PathBuf], program: &Path, folder: &Path) -> Result<()> {
    let host = folder.join("host.o");
    let mut compile = Command::new(COMPILER);
    compile
        .args(["-std=gnu11", "-O2", "-fno-pie", "-fno-stack-protector"])
        .args(["-fno-asynchronous-unwind-tables", "-fno-builtin", "-c"])
        .arg("-fno-tree-loop-distribute-patterns")
        .arg(paths::in_root(HOST))
        .arg("-o");
    process::output(compile.arg(&host))?;
    let mut rename = Command::new("aarch64-linux-gnu-objcopy");
    rename.arg("--prefix-alloc-sections=.host");
    process::output(rename.arg(&host))?;
    let mut objects = objects.to_vec();
    objects.push(host);
    link(&objects, PROCESS, program)
}

fn link(objects: &[PathBuf], script: &str, program: &Path) -> Result<()> {
    let mut command = Command::new(LINKER);
    command
        .args(FLAGS)
        .arg(format!("-T{}", paths::in_root(script).display()))
        .args(objects)
        .arg("-o");
    process::output(command.arg(program)).context(
        "linking the program: what it may call is in guests/runtime-c/donjon.h, and no more of a \
         C library",
    )?;
    Ok(())
}
