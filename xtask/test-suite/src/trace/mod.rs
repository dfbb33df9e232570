// SPDX-License-Identifier: MIT OR Apache-2.0
//! The steps of a running inner domain, in the order in which it carried them out, before an
//! oracle that shares no code with the rules that chose them.

mod look;
mod record;

use anyhow::{Context, Result, ensure};
use donjon_abi::trace::RecordKind;
use donjon_builder::arguments::HostArguments;
use donjon_machine::arguments::Switch;
use donjon_machine::finding::Finding;
use donjon_models::trace::{Oracle, Rule};

use super::test::Test;

use record::{Load, Recorded};

/// Fewer steps than this would show little.
const LEAST: usize = 10_000;
/// What makes Linux change tables in many ways. A block that joins the pool and leaves it comes
/// from the hostile module.
const AREAS: &str = "fork threads mremap mremap-tables mprotect mprotect-faults sparse-tables swap swap-pressure modules";
/// Machines, and whether they have few ASIDs.
const MACHINES: [(Switch, &str, u32, bool); 2] = [
    (Switch::Asid, "cortex-a57", 2, true),
    (Switch::Tlbi, "cortex-a53", 1, false),
];

/// What must be reported of the same trace when all of a kind is taken out of it.
///
/// Invalidations of blocks are missing here: those of this load are for Linux's comfort, behind a
/// block that became writable again.
const NEEDED: [(RecordKind, Rule); 7] = [
    (RecordKind::StoreBarrier, Rule::Unordered),
    (RecordKind::Barrier, Rule::Incomplete),
    (RecordKind::InvalidateLeaf, Rule::NotInvalidated),
    (RecordKind::InvalidatePage, Rule::NotInvalidated),
    (RecordKind::InvalidatePage, Rule::LeftHeld),
    (RecordKind::InvalidateAsid, Rule::TableHeld),
    (RecordKind::InvalidateAll, Rule::WritableHeld),
];
/// One step of as many is taken out, if it is a store, to show that stores cannot be missing.
const GAP: usize = 1000;

/// Rules that lack something, and what must be reported of them.
const CONTROLS: [(&str, &[&str], Rule); 2] = [
    ("weaken-flush", &["weaken-flush"], Rule::WritableHeld),
    ("weaken-withdraw", &["weaken-withdraw"], Rule::StillMapped),
];

/// A test for each machine, and for rules that lack something.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let mut tests = Vec::new();
    for (switch, cpu, cpus, few_asids) in MACHINES {
        let host = host.clone();
        let name = format!("trace:{}:{cpu}:{cpus}", switch.name());
        let test = Test::beside(&name, move || {
            let load = Load {
                switch,
                cpu,
                cpus,
                weakened: &[],
                areas: AREAS,
                few_asids,
            };
            let recorded = Recorded::new(&host, &load)?;
            is_sound(&recorded)?;
            if few_asids {
                rolls_over(&recorded)?;
            }
            Ok(())
        });
        tests.push(test.long_if(switch == Switch::Tlbi));
    }
    for (feature, weakened, rule) in CONTROLS {
        let host = host.clone();
        tests.push(Test::beside(
            &format!("trace:control:{feature}"),
            move || {
                let load = Load {
                    switch: Switch::Asid,
                    cpu: "cortex-a57",
                    cpus: 2,
                    weakened,
                    areas: "fork",
                    few_asids: false,
                };
                let recorded = Recorded::new(&host, &load)?;
                let oracle = recorded.judged(|_, _| true)?;
                reports(&oracle, rule, "the rules without this")
            },
        ));
    }
    tests.into_iter().map(|it| it.holds(&["I12"])).collect()
}

/// Nothing is wrong with a trace, it has enough of everything, and without any one kind of
/// barrier or invalidation it would be wrong.
fn is_sound(recorded: &Recorded) -> Result<()> {
    let oracle = recorded.judged(|_, _| true)?;
    let counters = oracle.counters();
    let said = oracle.violations().iter().map(ToString::to_string);
    let said: Vec<String> = said.collect();
    if !said.is_empty() {
        let text = format!("{}\n{counters}", said.join("\n"));
        return Err(Finding::Violation.error(text));
    }
    let events = RecordKind::ALL
        .iter()
        .all(|it| counters.events.contains_key(it));
    let counts = [
        counters.permissions,
        counters.made,
        counters.dropped,
        counters.links,
        counters.again,
        counters.filled,
        counters.trees,
        counters.asids,
        counters.blocks,
    ];
    ensure!(
        counters.steps() >= LEAST && events && counts.iter().all(|it| *it > 0),
        "too few steps, or too much alike: {counters}"
    );
    println!("{counters}");
    for (kind, rule) in NEEDED {
        let oracle = recorded.judged(|_, it| it.kind() != kind)?;
        reports(&oracle, rule, &format!("the trace without any {kind:?}"))?;
    }
    let oracle = recorded.judged(|at, it| it.kind() != RecordKind::Store || at % GAP != 0)?;
    reports(&oracle, Rule::Unrecorded, "the trace with gaps")
}

/// ASIDs go from one root to another, and would not be clean without their invalidation.
fn rolls_over(recorded: &Recorded) -> Result<()> {
    let oracle = recorded.judged(|_, it| it.kind() != RecordKind::InvalidateAsid)?;
    reports(
        &oracle,
        Rule::AsidHeld,
        "few ASIDs and no invalidation of one",
    )
}

fn reports(oracle: &Oracle<'_>, rule: Rule, what: &str) -> Result<()> {
    let counters = oracle.counters();
    let found = oracle.violations().iter().find(|it| it.rule == rule);
    let found = found.with_context(|| format!("{rule:?} was not found in {what}: {counters}"))?;
    println!("{what}: {found}");
    Ok(())
}
