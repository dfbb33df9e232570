// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask flow build`.

use std::fs;

use anyhow::{Context, Result, ensure};
use donjon_machine::paths;

use super::{BuildArguments, check};
use crate::build::{self, Build};

/// Where programs are built.
pub const BUILDS: &str = "target/flow";

/// Builds programs, checks them unless they are plain, and prints where they are.
pub fn run(arguments: &BuildArguments) -> Result<u8> {
    ensure!(
        arguments.out.is_none() || arguments.sources.len() == 1,
        "--out is the place of one program, and there are {}; leave it out",
        arguments.sources.len()
    );
    let folder = paths::in_root(BUILDS).join(arguments.target.name());
    let mut status = 0;
    for source in &arguments.sources {
        let name = source.file_stem().context("the source has no name")?;
        let what = Build {
            path: source,
            target: arguments.target,
            is_instrumented: !arguments.plain,
            compiler: arguments.compiler,
            has_lines: true,
        };
        let mut program = build::build(&what, &folder.join(name))?;
        if let Some(out) = &arguments.out {
            fs::copy(&program, out).with_context(|| format!("writing {}", out.display()))?;
            program.clone_from(out);
        }
        println!("{}", program.display());
        if what.is_instrumented {
            status |= check::print(&program, arguments.target)?;
        }
    }
    Ok(status)
}
