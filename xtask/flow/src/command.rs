// SPDX-License-Identifier: MIT OR Apache-2.0
//! Subcommands: arguments, and what they do.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use donjon_flow_chain::State;
use donjon_machine::paths;

use crate::build::{self, Build, Target};
use crate::cost::{Table, cost};
use crate::execute::Input;
use crate::{Source, rewrite};

/// Where programs are built.
const BUILDS: &str = "target/flow";

/// What to rewrite.
#[derive(Args, Debug)]
pub struct RewriteArguments {
    /// Assembly files of one program, as the compiler wrote them.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Where to put the new files.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
}

/// What to build.
#[derive(Args, Debug)]
pub struct BuildArguments {
    /// A C file, or a folder with C files.
    path: PathBuf,
    /// Where the program is to run.
    #[arg(long = "for", value_enum, default_value = "compartment")]
    target: Target,
    /// Build it without instrumentation, to compare.
    #[arg(long)]
    plain: bool,
    /// Where to put the program as well.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What to count.
#[derive(Args, Debug)]
pub struct CostArguments {
    /// C files, or folders with C files: a program each.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The first argument of the programs' call.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    argument: u64,
}

/// Rewrites assembly files.
///
/// # Errors
///
/// If a file cannot be read or written, or has a construct that the rewriter does not know.
pub fn rewrite_files(arguments: &RewriteArguments) -> Result<()> {
    let mut sources = Vec::new();
    for file in &arguments.files {
        sources.push(Source {
            name: file.display().to_string(),
            text: fs::read_to_string(file)
                .with_context(|| format!("reading {}", file.display()))?,
        });
    }
    fs::create_dir_all(&arguments.out)
        .with_context(|| format!("making {}", arguments.out.display()))?;
    for (file, text) in arguments.files.iter().zip(rewrite(&sources)?) {
        let name = file.file_name().context("a file has no name")?;
        let to = arguments.out.join(name);
        fs::write(&to, text).with_context(|| format!("writing {}", to.display()))?;
    }
    Ok(())
}

/// Builds a program and prints where it is.
///
/// # Errors
///
/// If building it fails.
pub fn build_program(arguments: &BuildArguments) -> Result<()> {
    let what = Build {
        path: &arguments.path,
        target: arguments.target,
        is_instrumented: !arguments.plain,
    };
    let name = arguments.path.file_stem().context("the path has no name")?;
    let mut program = build::build(&what, &paths::in_root(BUILDS).join(name))?;
    if let Some(out) = &arguments.out {
        fs::copy(&program, out).with_context(|| format!("writing {}", out.display()))?;
        program.clone_from(out);
    }
    println!("{}", program.display());
    Ok(())
}

/// Builds programs with and without instrumentation, runs them in processes, and prints what
/// instrumentation costs.
///
/// # Errors
///
/// If building or running one fails, or its log is wrong.
pub fn print_costs(arguments: &CostArguments) -> Result<()> {
    let input = Input {
        // Any state will do: nothing is hidden from the emulator.
        state: State([1, 2, 3, 4]),
        argument: arguments.argument,
    };
    let mut rows = Vec::new();
    for path in &arguments.paths {
        rows.push(cost(path, &input, &paths::in_root(BUILDS))?);
    }
    print!("{}", Table(rows));
    Ok(())
}
