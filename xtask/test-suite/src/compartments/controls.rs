// SPDX-License-Identifier: MIT OR Apache-2.0
//! What keeps compartments apart, and their registers from Linux, is left out: the guest's program
//! has to find it.

use anyhow::{Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run::prepare;
use donjon_machine::arguments::Switch;
use donjon_machine::machine::Machine;
use donjon_machine::said::says;

use super::{TIMEOUT, machine, on_max};
use crate::test::Test;

/// What a build leaves out, the command that finds it, what that says, and what the test holds.
struct Control {
    without: &'static str,
    command: &'static str,
    says: &'static [&'static str],
    holds: &'static [&'static str],
}

const CONTROLS: [Control; 4] = [
    Control {
        without: "weaken-tree",
        command: "pairs",
        says: &["reads of 1: SUCCEEDED"],
        holds: &["I20", "P5"],
    },
    Control {
        without: "weaken-clone",
        command: "pairs",
        says: &[
            "240 reads of another one's memory: all faulted",
            "clone 0 reads of 1: SUCCEEDED",
        ],
        holds: &["I20", "P5"],
    },
    Control {
        without: "weaken-vector-length",
        command: "vector",
        says: &["RDVL: SUCCEEDED", "SMSTART: SUCCEEDED"],
        holds: &["I21", "P5"],
    },
    Control {
        without: "weaken-generic-key",
        command: "generic-key",
        says: &["PACGA: SUCCEEDED"],
        holds: &["P5"],
    },
];

/// A test for each control.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let test = |control: &'static Control| {
        let host = host.clone();
        let name = format!("compartments:control:{}", control.without);
        Test::beside(&name, move || succeeds(&host, control)).holds(control.holds)
    };
    CONTROLS.iter().map(test).collect()
}

/// The command fails, and says what it found.
fn succeeds(host: &HostArguments, control: &Control) -> Result<()> {
    let arguments = match control.command {
        "vector" | "generic-key" => on_max(),
        _ => machine(Switch::Asid),
    };
    let mut inner = InnerVariant::sound(arguments.switch);
    inner.weakened = [control.without.to_owned()].into();
    let boot = prepare(host, Machine::new(&arguments)?, &inner)?.boot;
    let script = format!("! donjon-compartment {} 2>&1", control.command);
    let said = says(&boot, &script, TIMEOUT)?;
    said.expect_success()?;
    for words in control.says {
        let found = said.text.contains(words);
        ensure!(found, "no `{words}` in:\n{}", said.text);
    }
    Ok(())
}
