// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks that the documentation describes this tree: links, the map of crates, the tables of
//! tests and of kernel options.

mod architecture;
mod links;
mod options;
pub mod page;
mod rustdoc;
mod testing;
pub mod tree;

use anyhow::{Result, ensure};
use donjon_builder::arguments::HostArguments;

use super::test::Test;

/// One test for each kind of statement.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let host = host.clone();
    let tests = vec![
        Test::alone("docs:links", links::check),
        Test::alone("docs:architecture", architecture::check),
        Test::alone("docs:kernel-options", options::check),
        Test::alone("docs:testing", move || testing::check(&host)),
        Test::alone("docs:attacks", || donjon_attack::write_table(true)),
        Test::alone("docs:rustdoc", rustdoc::check),
    ];
    tests.into_iter().map(Test::quick).collect()
}

/// Fails with one line for each complaint.
pub fn none(complaints: &[String]) -> Result<()> {
    ensure!(complaints.is_empty(), "{}", complaints.join("\n"));
    Ok(())
}
