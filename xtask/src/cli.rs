// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line.

use clap::{Parser, Subcommand};
use donjon_attack::arguments::AttackArguments;
use donjon_audit::arguments::AuditArguments;
use donjon_bench::arguments::BenchCommand;
use donjon_builder::arguments::{KernelArguments, RunArguments};
use donjon_builder::compartment::command::CompartmentCommand;
use donjon_card::command::arguments::{FlashCommand, ImageCommand, ReleaseArguments};
use donjon_flow::command::FlowCommand;
use donjon_generator::allow::AllowListArguments;
use donjon_kselftest::arguments::KselftestArguments;
use donjon_report::arguments::ReportArguments;
use donjon_test_suite::arguments::TestArguments;
use donjon_test_suite::check::arguments::CheckArguments;
use donjon_verify::VerifyArguments;
use donjon_verify::endorse::EndorseArguments;

/// Builds, runs, measures and tests Donjon.
#[derive(Parser, Debug)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands. The first paragraph of a description is its line in the help.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Boot Linux over the inner domain; builds what is missing
    Run(RunArguments),
    /// Build Linux alone and print where it is
    Kernel(KernelArguments),
    /// Build programs that run in compartments, or measure them
    Compartment(CompartmentCommand),
    /// Build programs that say which path they took, check and decode them
    Flow(FlowCommand),
    /// Check a signed report of a compartment, or of the path that it took
    ///
    /// Says what the report proves. Status 1 if something is wrong. Of the folder of a run the
    /// status is 0 if the path is proven to its end, 3 if all is right and the program did not end
    /// by itself, and 2 if it cannot be read or is too long.
    Verify(VerifyArguments),
    /// Write reference values of a program and a boot image as CoRIM
    ///
    /// Services that appraise reports compare them with these values: the program's measurement,
    /// and the digest of what is started.
    Endorse(EndorseArguments),
    /// Check in minutes what has to hold before a patch is sent
    ///
    /// Status 1 if something does not.
    Check(CheckArguments),
    /// Run the tests
    Test(TestArguments),
    /// Check the invariants of a running machine from outside
    ///
    /// Boots, stops the machine, and reads its memory and registers. Status 1 if an invariant does
    /// not hold.
    Audit(AuditArguments),
    /// Attack the inner domain from a hostile kernel module
    ///
    /// Each attack is carried out again in a build without the protection, where it has to succeed.
    /// Status 1 if an attack succeeds or a control does not.
    Attack(AttackArguments),
    /// Run the kernel's selftests, natively and over the inner domain
    Kselftest(KselftestArguments),
    /// Measure in QEMU, in a model or on a board
    Bench(BenchCommand),
    /// Write all measurements as one page
    ///
    /// Measures what is missing and quick. Status 1 if a part could not be measured.
    Report(ReportArguments),
    /// Make what a board starts from: an SD card's image, or files
    Image(ImageCommand),
    /// Write an SD card and compare what is on it; asks first
    Flash(FlashCommand),
    /// Build the files of this version, with digests and notes
    ///
    /// Boot image, kernel, guest programs, notes from the change log, and SHA256SUMS. Nothing is
    /// uploaded.
    Release(ReleaseArguments),
    /// Write the C headers and the tables of calls, or check them
    ///
    /// They are generated from inner-domain/abi.
    Header {
        /// Only say whether they are current.
        #[arg(long)]
        check: bool,
    },
    /// Write the list of allowed instructions, or show a kernel's
    ///
    /// The list is generated from kernel-patch/allow-list.toml.
    AllowList(AllowListArguments),
    /// Write the map of modules and C files, or check it
    ///
    /// It is in docs/architecture.md, from the first sentences of the files.
    Architecture {
        /// Only say whether it is current.
        #[arg(long)]
        check: bool,
    },
    /// Write the page of all commands, or check it
    Commands {
        /// Only say whether it is current.
        #[arg(long)]
        check: bool,
    },
}
