// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask check`: what has to hold before a patch is sent, in minutes and without a guest.

pub mod arguments;
mod commits;
mod lengths;
mod tools;

use anyhow::Result;
use donjon_builder::environment;
use donjon_generator::{allow, architecture, header};

use crate::docs::{self, Holder};
use crate::test::Test;
use crate::{all, needs, runner};

use arguments::CheckArguments;

/// Runs the quick tests and those of this command alone; returns the exit status.
///
/// # Errors
///
/// If the host lacks something that cannot be installed, or, with `--write`, if a generated file
/// cannot be written.
pub fn run(arguments: &CheckArguments) -> Result<u8> {
    if arguments.write {
        write(arguments)?;
    }
    let tests = all(&arguments.host).into_iter();
    let mut tests: Vec<_> = tests.filter(|it| it.tier.is_checked()).collect();
    if arguments.strict {
        tests = tests.into_iter().map(Test::strictly).collect();
    }
    environment::prepare(&arguments.host, needs(&tests))?;
    Ok(u8::from(!runner::run(&tests)))
}

/// Tests of the rules of commits and lengths, and those that need further programs.
///
/// Without `installs` nothing is installed for them.
pub fn tests(installs: bool) -> Vec<Test> {
    let mut tests = vec![
        Test::alone("commits", commits::check).in_check_alone(),
        Test::alone("lengths", lengths::check).quick(),
    ];
    tests.extend(tools::tests(installs));
    tests
}

/// Writes all generated files.
fn write(arguments: &CheckArguments) -> Result<()> {
    header::run(false)?;
    allow::generate(false)?;
    architecture::run(false)?;
    donjon_attack::write_table(false)?;
    docs::write_commands()?;
    let holders: Vec<_> = all(&arguments.host).iter().map(Holder::of).collect();
    docs::promises(&holders, false)
}
