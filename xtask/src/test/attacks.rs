// SPDX-License-Identifier: MIT OR Apache-2.0
//! The attacks of `cargo xtask attack`: stopped in every mode, and each control.

use super::boots::built;
use super::runner::Test;
use crate::attack::{self, Bench};
use crate::cli::{HostArguments, Switch};

/// One test for each mode, one for each build without a protection.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let mut tests = Vec::new();
    for switch in [Switch::Asid, Switch::Tlbi, Switch::Strict] {
        let host = host.clone();
        let name = format!("attack:module:{}", switch.name());
        tests.push(Test::beside(&name, move || {
            attack::all_are_stopped(bench(&host, switch))
        }));
    }
    for without in attack::protections() {
        let host = host.clone();
        let name = format!("attack:control:{}", without.name());
        tests.push(Test::beside(&name, move || {
            attack::controls_succeed(bench(&host, Switch::Asid), without)
        }));
    }
    tests
}

const fn bench(host: &HostArguments, switch: Switch) -> Bench<'_> {
    Bench {
        host,
        build: built,
        switch,
    }
}
