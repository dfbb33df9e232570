// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line.

use clap::{Parser, Subcommand};
use donjon_attack::arguments::AttackArguments;
use donjon_audit::arguments::AuditArguments;
use donjon_bench::arguments::BenchCommand;
use donjon_builder::arguments::{KernelArguments, RunArguments};
use donjon_builder::compartment::command::CompartmentCommand;
use donjon_card::command::arguments::{FlashCommand, ImageCommand};
use donjon_generator::allow::AllowListArguments;
use donjon_kselftest::arguments::KselftestArguments;
use donjon_report::arguments::ReportArguments;
use donjon_test_suite::arguments::TestArguments;
use donjon_test_suite::check::arguments::CheckArguments;
use donjon_verify::VerifyArguments;

/// Builds, runs, measures and tests Donjon.
#[derive(Parser, Debug)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Boot Linux over the inner domain in QEMU, building whatever is not built yet.
    Run(RunArguments),
    /// Boot and check from outside the guest which invariants hold; status 1 if one does not.
    Audit(AuditArguments),
    /// Attack the inner domain from a hostile kernel module, and each time again in a build
    /// without the protection; status 1 if an attack succeeds or a control does not.
    Attack(AttackArguments),
    /// Measure in QEMU, or on a board.
    Bench(BenchCommand),
    /// Write all measurements as one page, measuring what is missing and quick; status 1 if a part
    /// could not be measured.
    Report(ReportArguments),
    /// Check in minutes what has to hold before a patch is sent; status 1 if something does not.
    Check(CheckArguments),
    /// Run the tests.
    Test(TestArguments),
    /// Run the kernel's own selftests, natively and over the inner domain.
    Kselftest(KselftestArguments),
    /// Make what a board starts from: the image of an SD card, or files.
    Image(ImageCommand),
    /// Write an SD card and compare what is on it; asks first.
    Flash(FlashCommand),
    /// Build Linux alone and say where it is.
    Kernel(KernelArguments),
    /// Check a signed report of a compartment, and say what it proves; status 1 if something is
    /// wrong
    Verify(VerifyArguments),
    /// Build programs that run in compartments, or measure their images.
    Compartment(CompartmentCommand),
    /// Write what is generated from kernel-patch/allow-list.toml, or show a kernel's instructions.
    AllowList(AllowListArguments),
    /// Write the map of modules and C files in docs/architecture.md, from their first sentences.
    Architecture {
        /// Only say whether it is current.
        #[arg(long)]
        check: bool,
    },
    /// Write the C header for Linux and the call table of docs/idc.md from inner-domain/abi.
    Header {
        /// Only say whether they are current.
        #[arg(long)]
        check: bool,
    },
}
