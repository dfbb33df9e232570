// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask test`: every check of the project, by name.

mod asids;
mod attack;
mod attacks;
mod audit;
mod bad_input;
pub mod boots;
mod gate;
mod geometry;
mod host;
mod load;
mod longest;
mod modules;
mod restart;
mod runner;
mod scratch;
mod soak;
mod trace;
mod weakened;

use anyhow::{Result, bail};

use crate::cli::{HostArguments, Switch, TestArguments};
use crate::environment::{self, Needs};
use crate::selftests;

use runner::Test;

/// The kernel's own selftests.
const KSELFTEST: &str = "kselftest";

/// Runs the tests that the arguments select; returns the exit status.
pub fn run(arguments: &TestArguments) -> Result<u8> {
    let mut tests = all(&arguments.host)?;
    // Long: by name alone.
    let host = arguments.host.clone();
    let selftests = Test::alone(KSELFTEST, move || selftests::test(&host, Switch::Asid));
    for test in [selftests, soak::test(&arguments.host)] {
        if arguments.list || arguments.filters.contains(&test.name) {
            tests.push(test);
        }
    }
    if !arguments.filters.is_empty() {
        tests.retain(|test| {
            arguments
                .filters
                .iter()
                .any(|it| test.name.contains(it.as_str()))
        });
    }
    if arguments.list {
        for test in &tests {
            println!("{}", test.name);
        }
        return Ok(0);
    }
    if tests.is_empty() {
        bail!("no test has such a name; `cargo xtask test --list` shows the names");
    }
    let miri = tests.iter().any(|it| it.name == host::MIRI);
    environment::prepare(
        &arguments.host,
        Needs {
            miri,
            ..Needs::default()
        },
    )?;
    Ok(u8::from(!runner::run(&tests)))
}

fn all(host_arguments: &HostArguments) -> Result<Vec<Test>> {
    let mut tests = host::tests(host_arguments);
    tests.extend(bad_input::tests(host_arguments));
    tests.extend(boots::tests(host_arguments));
    tests.extend(weakened::tests(host_arguments));
    tests.extend(asids::tests(host_arguments));
    tests.extend(attack::tests(host_arguments));
    tests.extend(attacks::tests(host_arguments));
    tests.extend(audit::tests(host_arguments));
    tests.extend(geometry::tests(host_arguments));
    tests.extend(gate::tests());
    tests.extend(load::tests(host_arguments));
    tests.extend(longest::tests(host_arguments));
    tests.extend(modules::tests(host_arguments));
    tests.extend(restart::tests(host_arguments));
    tests.extend(trace::tests(host_arguments));
    Ok(tests)
}
