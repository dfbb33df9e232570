// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks that the documentation describes this tree (links, the README, the page of commands, the
//! map of crates, the tables of tests and of kernel options), and that comments can be read where
//! they stand.

mod architecture;
mod front;
mod links;
mod options;
pub mod page;
mod rustdoc;
mod testing;
pub mod tree;
mod words;

use anyhow::{Result, ensure};

use super::test::Test;

pub use front::write_commands;
pub use testing::{Holder, run as promises};

/// One test for each kind of statement.
pub fn tests() -> Vec<Test> {
    let tests = vec![
        Test::alone("docs:links", links::check),
        Test::alone("docs:readme", front::check_readme),
        Test::alone("docs:commands", front::check_commands),
        Test::alone("docs:architecture", architecture::check),
        Test::alone("docs:kernel-options", options::check),
        Test::alone("docs:attacks", || donjon_attack::write_table(true)),
        Test::alone("docs:words", words::check),
    ];
    let mut tests: Vec<_> = tests.into_iter().map(Test::quick).collect();
    // A minute or more: the lints of the usual run find most of what it finds.
    tests.push(Test::alone("docs:rustdoc", rustdoc::check).in_check_alone());
    tests
}

/// The comparison of the table of promises with what these tests hold, as a test of its own.
pub fn promised(tests: &[Test]) -> Test {
    let holders: Vec<_> = tests.iter().map(Holder::of).collect();
    Test::alone("docs:testing", move || promises(&holders, true)).quick()
}

/// Fails with one line for each complaint.
pub fn none(complaints: &[String]) -> Result<()> {
    ensure!(complaints.is_empty(), "{}", complaints.join("\n"));
    Ok(())
}
