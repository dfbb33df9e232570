// SPDX-License-Identifier: MIT OR Apache-2.0
//! What flow attestation costs: programs in a process and in a compartment, with instrumentation
//! and without.
//!
//! * `donjon-flow fig5 INSTRUCTIONS TRIALS FOLDER NAME...`, `hash` and `segments FOLDER NAME` count
//!   for `cargo xtask bench flow`.
//! * `donjon-flow lines baseline|sulfur FOLDER NAME...` prints the lines of the paper's script.
//!
//! A folder has four files for each program: `NAME.plain` and `NAME.flow` for a process,
//! `NAME.plain.image` and `NAME.flow.image` for a compartment.

#[cfg(target_arch = "aarch64")]
mod build;
#[cfg(target_arch = "aarch64")]
mod fig5;
#[cfg(target_arch = "aarch64")]
mod hash;
#[cfg(target_arch = "aarch64")]
mod lines;
#[cfg(target_arch = "aarch64")]
mod segments;

#[cfg(target_arch = "aarch64")]
fn main() -> anyhow::Result<()> {
    use anyhow::{Context, bail};
    use std::path::Path;

    const USAGE: &str = "fig5 INSTRUCTIONS TRIALS FOLDER NAME..., hash, segments FOLDER NAME or \
                         lines baseline|sulfur FOLDER NAME...";
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words {
        ["fig5", most, trials, folder, ref names @ ..] => {
            let (most, trials) = (most.parse().context(USAGE)?, trials.parse().context(USAGE)?);
            fig5::run(most, trials, Path::new(folder), names)
        }
        ["hash"] => hash::run(),
        ["segments", folder, name] => segments::run(Path::new(folder), name),
        ["lines", "baseline", folder, ref names @ ..] => {
            lines::run(lines::What::Baseline, Path::new(folder), names)
        }
        ["lines", "sulfur", folder, ref names @ ..] => {
            lines::run(lines::What::Sulfur, Path::new(folder), names)
        }
        _ => bail!(USAGE),
    }
}

#[cfg(not(target_arch = "aarch64"))]
fn main() {}
