// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cost of operations grows as the work and not faster, and the inner domain has no more memory
//! than it may have.

use donjon_bench::arguments::ScaleArguments;
use donjon_bench::resume::Run;
use donjon_bench::{Record, scale};
use donjon_builder::arguments::HostArguments;

use super::test::Test;

/// Sizes up to 16 MiB, in the mode that is the default. Work on several CPUs is left out: nothing
/// of it is judged.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let arguments = ScaleArguments::quick(host);
    vec![
        Test::beside("scale:quick", move || {
            scale::measure(&arguments, &mut Run::alone())?.check()
        })
        .long(),
    ]
}
