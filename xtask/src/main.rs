// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host side of Donjon: `cargo xtask`.

mod cli;
mod commands;
mod help;

use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, FromArgMatches};
use donjon_builder::arguments::HostArguments;
use donjon_builder::environment;
use donjon_builder::{compartment, kernel, run};
use donjon_generator::{allow, architecture, header};
use donjon_machine::process;

use cli::{Arguments, Command};

fn main() -> ExitCode {
    let matches = help::in_groups(Arguments::command()).get_matches();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match dispatch(&arguments.command) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: &Command) -> Result<u8> {
    process::end_children_when_told_to_stop()?;
    match command {
        Command::Run(arguments) => run::run(arguments, donjon_bench::flow::files),
        Command::Attack(arguments) => donjon_attack::run(arguments),
        Command::Audit(arguments) => donjon_audit::run(arguments),
        Command::Bench(arguments) => donjon_bench::run(arguments),
        Command::Kselftest(arguments) => donjon_kselftest::run(arguments),
        Command::Report(arguments) => donjon_report::run(arguments),
        Command::Check(arguments) => donjon_test_suite::check::run(arguments),
        Command::Test(arguments) => donjon_test_suite::run(arguments),
        Command::Kernel(arguments) => kernel::run(arguments).map(|()| 0),
        Command::Image(command) => donjon_card::command::run(command).map(|()| 0),
        Command::Flash(command) => donjon_card::command::run_flash(command).map(|()| 0),
        Command::Verify(arguments) => donjon_verify::run(arguments),
        Command::Endorse(arguments) => donjon_verify::endorse::run(arguments).map(|()| 0),
        Command::Flow(command) => {
            if let Some(needs) = command.needs() {
                environment::prepare(&HostArguments::default(), needs)?;
            }
            donjon_flow::command::run(command)
        }
        Command::Compartment(command) => compartment::run(command).map(|()| 0),
        Command::AllowList(arguments) => allow::run(arguments),
        Command::Architecture { check } => architecture::run(*check).map(|()| 0),
        Command::Release(arguments) => donjon_card::command::run_release(arguments).map(|()| 0),
        Command::Header { check } => header::run(*check).map(|()| 0),
        Command::Commands { check } => commands::run(*check).map(|()| 0),
    }
}
