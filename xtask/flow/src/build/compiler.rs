// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compilers of programs in C, and their flags.

use std::process::Command;

use clap::ValueEnum;
use donjon_builder::compartment::c::{COMPILER, FLAGS};
use donjon_builder::environment::Needs;
use donjon_machine::qemu::SOURCES;
use donjon_machine::{paths, tools};

use super::Build;

/// A compiler of programs in C. GNU as assembles and GNU ld links what each of them writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Compiler {
    /// The cross compiler of GCC.
    #[default]
    Gcc,
    /// The compiler of LLVM.
    Clang,
}

/// Flags for gcc alone: clang does not know the first one.
const OF_GCC: [&str; 2] = [
    "-fno-tree-loop-distribute-patterns",
    "-fno-asynchronous-unwind-tables",
];

/// Flags of instrumented programs from gcc.
///
/// `-dA` writes into the assembly how often the compiler believes that each block runs.
const FLOW_GCC: [&str; 3] = [
    "-fno-jump-tables",
    "-fno-reorder-blocks-and-partition",
    "-dA",
];

/// Flags of instrumented programs from clang.
const FLOW_CLANG: [&str; 1] = ["-fno-jump-tables"];

/// Flags of all programs from clang: without comments, which have characters that are no UTF-8, and
/// without the directive `.addrsig`, which GNU as does not know. Directives for unwinding, which
/// the rewriter and the linker drop, are in the way of clang's scheduler; with debug information
/// they are always there, so they are there without it as well: the text is the same.
const CLANG: [&str; 4] = [
    "--target=aarch64-linux-gnu",
    "-fno-addrsig",
    "-fno-verbose-asm",
    "-fasynchronous-unwind-tables",
];

/// Flags for lines and functions in debug information, which is not loaded: the text stays as it
/// is. Where variables are is left out, as it would not be true of rewritten code.
const DEBUG_GCC: [&str; 4] = [
    "-g",
    "-gdwarf-5",
    "-fno-var-tracking",
    "-gno-variable-location-views",
];

/// Flags of clang for lines and inlined functions in debug information, without variables.
const DEBUG_CLANG: [&str; 2] = ["-gdwarf-5", "-gline-tables-only"];

impl Compiler {
    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gcc => "gcc",
            Self::Clang => "clang",
        }
    }

    /// Returns the command that compiles, with the flags of a program.
    pub fn command(self, what: &Build) -> Command {
        let mut command = match self {
            Self::Gcc => Command::new(COMPILER),
            Self::Clang => Command::new(tools::CLANG.name),
        };
        match self {
            Self::Gcc => command.args(FLAGS),
            Self::Clang => command
                .args(CLANG)
                .args(FLAGS.iter().filter(|it| !OF_GCC.contains(it))),
        };
        if what.is_instrumented {
            command
                .args(self.flow())
                .args((22..=28).map(|it| format!("-ffixed-x{it}")));
        }
        command.args(self.debug(what));
        command
    }

    /// Returns what the host must have for it beyond what every build needs.
    pub const fn needs(self) -> Needs {
        Needs {
            clang: matches!(self, Self::Clang),
            ..Needs::NONE
        }
    }

    const fn flow(self) -> &'static [&'static str] {
        match self {
            Self::Gcc => &FLOW_GCC,
            Self::Clang => &FLOW_CLANG,
        }
    }

    /// Returns the flags of a file's debug information. Its paths are the same wherever it is made.
    pub fn debug(self, what: &Build) -> Vec<String> {
        if !what.has_lines {
            return Vec::new();
        }
        let flags: &[&str] = match self {
            Self::Gcc => &DEBUG_GCC,
            Self::Clang => &DEBUG_CLANG,
        };
        let map = format!("-fdebug-prefix-map={}=/{SOURCES}", paths::root().display());
        flags
            .iter()
            .map(|it| (*it).to_owned())
            .chain([map])
            .collect()
    }
}
