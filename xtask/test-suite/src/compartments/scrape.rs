// SPDX-License-Identifier: MIT OR Apache-2.0
//! Searches for the messages of compartments find nothing, find everything of processes, and find
//! what a weakened inner domain leaves open.

use anyhow::{Result, ensure};
use donjon_bench::Record;
use donjon_bench::arguments::{CompartmentsArguments, Experiment};
use donjon_bench::compartments::{Measured, libraries, measure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_machine::arguments::Switch;

use crate::test::Test;

/// By name alone.
const LONG: &str = "compartments:libraries:long";
/// Seconds of the usual search of compartments: some rounds of every way.
const SHORT: u64 = 20;
/// Seconds of the control: one round, which takes longer.
const ONE_ROUND: u64 = 1;
/// What is open when the linear map keeps private memory and its tables stay writable, and when any
/// frame may be mapped.
const OPEN: [&str; 7] = ["linear", "map", "device", "user", "table", "store", "kcore"];

/// Searches that take a minute or two, and the control.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let (trust, libraries, control) = (host.clone(), host.clone(), host.clone());
    vec![
        Test::beside("compartments:trust", move || {
            search(&trust, Experiment::Trust, true)
        })
        .holds(&["P5"]),
        Test::beside("compartments:libraries", move || {
            search(&libraries, Experiment::Libraries, true)
        })
        .holds(&["P5"]),
        Test::beside("compartments:libraries:control", move || weakened(&control))
            .holds(&["P5"])
            .long(),
    ]
}

/// An hour.
pub fn long(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::alone(LONG, move || search(&host, Experiment::Libraries, false))
        .holds(&["P5"])
        .long()
}

fn search(host: &HostArguments, experiment: Experiment, quick: bool) -> Result<()> {
    let record = measure(&CompartmentsArguments {
        experiments: vec![experiment],
        quick,
        seconds: quick.then_some(SHORT),
        ..CompartmentsArguments::quick(host)
    })?;
    println!("{}", record.text());
    record.check()
}

/// Checks that the search finds messages over an inner domain that lets private memory be mapped.
fn weakened(host: &HostArguments) -> Result<()> {
    let mut inner = InnerVariant::sound(Switch::Asid);
    inner.weakened = ["weaken-pool", "weaken-target"].map(Into::into).into();
    let found = libraries::measure(host, &inner, ONE_ROUND, &mut String::new())?;
    let ways = found.ways.iter().filter(|it| it.inside.found > 0);
    let names: Vec<&str> = ways.map(|it| it.name.as_str()).collect();
    ensure!(
        names == OPEN,
        "inside, {names:?} found something, not {OPEN:?}:\n{}",
        found.table()
    );
    Ok(())
}
