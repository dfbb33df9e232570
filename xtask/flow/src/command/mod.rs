// SPDX-License-Identifier: MIT OR Apache-2.0
//! The subcommands of `cargo xtask flow`.

mod build;
mod check;
mod decode;
mod demo;
mod run;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use donjon_builder::environment::Needs;

use crate::build::{Compiler, Target, is_rust};

pub use demo::programs;

/// Name of the file with what a run left, in the folder that it is kept in.
const OUTCOME: &str = "outcome";
/// Name of a file in the folder of a run in a compartment.
const TRANSCRIPT: &str = "transcript";

/// What commands that run programs need: they are linked with the C library.
pub const EMULATOR: Needs = Needs {
    user_qemu: true,
    cross_libc: true,
    ..Needs::NONE
};

/// Flow attestation: programs that say which path they took.
#[derive(Args, Debug)]
pub struct FlowCommand {
    #[command(subcommand)]
    action: Action,
}

impl FlowCommand {
    /// Returns what the command needs beyond what every build needs. `None`: it builds and runs
    /// nothing that could be missing.
    pub fn needs(&self) -> Option<Needs> {
        let compilers = |compiler: Compiler, sources: &[PathBuf]| {
            let has_rust = sources.iter().any(|it| is_rust(it));
            compiler.needs().or(Needs {
                core_sources: has_rust,
                ..Needs::NONE
            })
        };
        match &self.action {
            Action::Build(it) => {
                Some(compilers(it.compiler, &it.sources)).filter(|it| *it != Needs::NONE)
            }
            Action::Run(_) => Some(EMULATOR),
            Action::Demo(it) => {
                let sources = demo::sources(it).unwrap_or_default();
                Some(EMULATOR.or(compilers(it.compiler, &sources)))
            }
            Action::Check(_) | Action::Decode(_) => None,
        }
    }
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Build a program in C or Rust that says which path it takes, and check it
    Build(BuildArguments),
    /// Prove that a built program has the form of an attested one
    ///
    /// Names each place that a rule refuses. Status 1 if there is one.
    Check(CheckArguments),
    /// Run a program that was built for a process, in an emulator, and keep its log
    Run(RunArguments),
    /// Print the path that a log says
    ///
    /// Status 1 if the program cannot have taken such a path; the first impossible step is named.
    Decode(DecodeArguments),
    /// Build programs, run them in an emulator, and compare their paths with its traces
    ///
    /// Prints what the instrumentation costs, in instructions. Status 1 if a path differs.
    Demo(DemoArguments),
}

/// What to build.
#[derive(Args, Debug)]
struct BuildArguments {
    /// C files, folders with C files, or files in Rust; each is a program.
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Where the programs are to run.
    #[arg(long = "for", value_enum, default_value = "compartment")]
    target: Target,
    /// What compiles files in C.
    #[arg(long = "cc", value_enum, default_value_t)]
    compiler: Compiler,
    /// Build without instrumentation, to compare.
    #[arg(long)]
    plain: bool,
    /// Put the program of the only source here as well.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What to check.
#[derive(Args, Debug)]
struct CheckArguments {
    /// The linked program.
    #[arg(value_name = "ELF")]
    program: PathBuf,
    /// Where the program runs. Of a process the instrumented section alone is looked at.
    #[arg(long = "for", value_enum, default_value = "compartment")]
    target: Target,
}

/// What to run.
#[derive(Args, Debug)]
struct RunArguments {
    /// A program from `flow build --for process`.
    #[arg(value_name = "ELF")]
    program: PathBuf,
    /// Folder to keep the log in; it is made.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// First argument of the program's call.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    argument: u64,
}

/// What to decode.
#[derive(Args, Debug)]
struct DecodeArguments {
    /// The folder that `flow run` kept a log in.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The program. It is never taken from the folder: names and path are those of this file.
    #[arg(long, value_name = "ELF")]
    program: PathBuf,
    /// Print the address of each block, and the count of each counted loop.
    #[arg(long)]
    blocks: bool,
    /// Print file and line of each block as well; implies --blocks.
    #[arg(long)]
    lines: bool,
    /// Give up after so many blocks.
    #[arg(long, value_name = "NUMBER", default_value_t = 1 << 36)]
    max_blocks: u64,
}

/// What to show.
#[derive(Args, Debug)]
struct DemoArguments {
    /// Programs: C files, folders with C files, or files in Rust. Without any, those of
    /// guests/flow/programs.
    #[arg(value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// What compiles files in C.
    #[arg(long = "cc", value_enum, default_value_t)]
    compiler: Compiler,
    /// First argument of each program's call: how often it repeats its work.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    argument: u64,
}

/// Does what a command line says; the status of the command.
///
/// # Errors
///
/// If a tool is missing, a file cannot be read or written, or a program has a construct that the
/// rewriter does not know.
pub fn run(command: &FlowCommand) -> Result<u8> {
    match &command.action {
        Action::Build(arguments) => build::run(arguments),
        Action::Check(arguments) => check::run(arguments),
        Action::Run(arguments) => run::run(arguments),
        Action::Decode(arguments) => decode::run(arguments),
        Action::Demo(arguments) => demo::run(arguments),
    }
}
