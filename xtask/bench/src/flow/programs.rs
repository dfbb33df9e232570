// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs that are measured, in four builds.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use donjon_builder::progress::Step;
use donjon_flow::build::{Build, Compiler, Target, build};
use donjon_machine::paths;

/// The programs of the paper on Sulfur, under its names and in its order.
pub const NAMES: [&str; 15] = [
    "basicmath_small",
    "crc_32",
    "libedn",
    "libhuffbench",
    "libminver",
    "libst",
    "libud",
    "matmult-int",
    "mont64",
    "nbody",
    "nettle-aes",
    "nettle-sha256",
    "primecount",
    "sglib-combined",
    "tarfind",
];

/// Where a guest has them.
pub const FOLDER: &str = "/flow";

const SOURCES: &str = "guests/flow/programs";
const BUILDS: &str = "target/flow/bench";

/// Builds the programs: where a guest is to have each file, and its bytes.
///
/// # Errors
///
/// If a tool fails.
pub fn files() -> Result<Vec<(String, Vec<u8>)>> {
    let mut files = vec![(format!("{FOLDER}/run.sh"), script().into_bytes())];
    let step = Step::spinner("build the programs");
    for name in NAMES {
        for (is_instrumented, kind) in [(false, "plain"), (true, "flow")] {
            for (target, suffix) in [(Target::Process, ""), (Target::Compartment, ".image")] {
                let file = format!("{name}.{kind}{suffix}");
                let bytes = one(name, is_instrumented, target, &file)?;
                files.push((format!("{FOLDER}/{file}"), bytes));
            }
        }
    }
    step.vanish();
    Ok(files)
}

/// A script that prints the lines of the paper's.
fn script() -> String {
    format!(
        "#!/bin/sh\n\
         # What the paper on Sulfur prints about its programs: run.sh baseline|sulfur\n\
         exec donjon-flow lines \"$1\" {FOLDER} {}\n",
        NAMES.join(" ")
    )
}

fn one(name: &str, is_instrumented: bool, target: Target, file: &str) -> Result<Vec<u8>> {
    let source = paths::in_root(SOURCES).join(name).with_extension("c");
    let what = Build {
        path: &source,
        target,
        is_instrumented,
        compiler: Compiler::Gcc,
        has_lines: false,
    };
    let folder = paths::in_root(BUILDS).join(file);
    let program = build(&what, Path::new(&folder))?;
    fs::read(&program).with_context(|| format!("reading {}", program.display()))
}
