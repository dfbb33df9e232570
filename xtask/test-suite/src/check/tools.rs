// SPDX-License-Identifier: MIT OR Apache-2.0
//! Licences and advisories of dependencies, and spelling: by programs that are installed for it.

use std::process::Command;

use anyhow::{Error, Result};
use donjon_builder::environment::program::{CARGO_DENY, Program, TYPOS};
use donjon_machine::{paths, process};

use crate::runner::not_checked;
use crate::test::Test;

/// What `cargo deny` and Cargo say where there is no network.
const NO_NETWORK: [&str; 5] = [
    "failed to fetch advisory database",
    "failed to clone",
    "failed to download",
    "download of config.json failed",
    "spurious network error",
];

/// A test for what each program looks at. Without `installs`, a missing program is named.
pub fn tests(installs: bool) -> Vec<Test> {
    let with = |name: &str, body: fn(bool) -> Result<()>| {
        Test::alone(name, move || body(installs)).in_check_alone()
    };
    vec![
        with("deny:licences", licences),
        with("deny:advisories", advisories),
        with("spelling", spelling),
    ]
}

/// Licences, banned crates and sources of all dependencies, by `deny.toml`.
fn licences(installs: bool) -> Result<()> {
    let mut command = program("licences", &CARGO_DENY, installs)?;
    let parts = ["licenses", "bans", "sources"];
    command.args(["--all-features", "check"]).args(parts);
    with_network(
        "licences: crates that were never built here cannot be downloaded",
        finish("deny-licences", &mut command),
    )
}

/// Known vulnerabilities of dependencies. The database comes from the network.
fn advisories(installs: bool) -> Result<()> {
    let mut command = program("advisories", &CARGO_DENY, installs)?;
    command.args(["--all-features", "check", "advisories"]);
    with_network(
        "advisories: the database, https://github.com/rustsec/advisory-db, cannot be fetched",
        finish("deny-advisories", &mut command),
    )
}

/// The result of a command that needs the network; without one, `what` is not checked.
fn with_network(what: &str, result: Result<()>) -> Result<()> {
    result.map_err(|error| {
        let text = format!("{error:#}");
        match NO_NETWORK.iter().any(|it| text.contains(it)) {
            true => not_checked(format!("{what}; run the same command again with a network")),
            false => error,
        }
    })
}

/// Spelling of all files, by `_typos.toml`.
fn spelling(installs: bool) -> Result<()> {
    let mut command = program("spelling", &TYPOS, installs)?;
    command.args(["--format", "brief", "--color", "never"]);
    finish("typos", &mut command)
}

/// A command with the program, which is installed if it is missing. What it was to check is not
/// checked where it cannot be.
fn program(what: &str, program: &Program, installs: bool) -> Result<Command> {
    let name = program.name;
    let missing = |why: Error| {
        not_checked(format!(
            "{what}: {name} {} is missing; to install it: {} ({why:#})",
            program.version,
            program.install_line()
        ))
    };
    let path = program.obtain(installs).map_err(missing)?;
    let mut command = Command::new(path);
    command.current_dir(paths::root());
    Ok(command)
}

fn finish(log: &str, command: &mut Command) -> Result<()> {
    let log = paths::in_root(format!("target/logs/{log}.log"));
    process::logged(command.env("CARGO_TERM_COLOR", "never"), &log, |_| ())
}
