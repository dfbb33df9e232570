// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compartments against processes: goals that are met stay met.

use donjon_bench::arguments::CompartmentsArguments;
use donjon_bench::{Record, compartments};
use donjon_builder::arguments::HostArguments;

use super::test::Test;

/// How many there can be, and messages, in the short form.
pub fn test(host: &HostArguments) -> Test {
    let arguments = CompartmentsArguments::quick(host);
    Test::beside("bench:compartments", move || {
        compartments::measure(&arguments)?.check()
    })
    .long()
}
