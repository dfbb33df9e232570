// SPDX-License-Identifier: MIT OR Apache-2.0
//! Explores every action of the outer domain, in any order, until no new state is found.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use donjon_abi::tcr;

use super::gate::{Gate, Mismatch, Step};
use super::inside::Way;
use super::model::{Assumptions, Breach, Cpu, Lower, Rules, Tcr, Who, World};

/// Something that the outer domain does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Calls the gate as it is meant.
    Call,
    /// Jumps to a step of the gate; a write there writes `register`.
    Jump {
        /// Index of the step.
        step: usize,
        /// What the register of the write holds.
        register: Tcr,
    },
    /// Switches to the tables and the ASID of another process.
    Switch(u16),
    /// Runs one of two compartments.
    Run(bool),
}

/// A breach and how it comes about.
#[derive(Clone, Debug)]
pub struct Violation {
    /// What happens.
    pub breach: Breach,
    /// The shortest way there; the last operation is the one during or after which it happens.
    pub operations: Vec<Operation>,
}

/// ASIDs of two processes, neither of them the reserved one.
const USERS: [u16; 2] = [tcr::LAST_RESERVED_ASID + 1, tcr::LAST_RESERVED_ASID + 2];

/// Explores `gate` and returns the shortest violation of each kind. `attacker` says whether the
/// outer domain also jumps into the gate, or only ever calls it. Stops early when isolation is
/// broken in both directions.
pub fn explore(
    gate: &Gate,
    assumptions: Assumptions,
    rules: Rules,
    attacker: bool,
) -> BTreeMap<Breach, Violation> {
    explore_with(gate, None, assumptions, rules, attacker)
}

/// Explores a CPU that also enters and leaves compartments, in the given way.
pub fn explore_with(
    gate: &Gate,
    way: Option<&Way>,
    assumptions: Assumptions,
    rules: Rules,
    attacker: bool,
) -> BTreeMap<Breach, Violation> {
    let world = World { assumptions, rules };
    let start = Cpu::new(Tcr::of_register(tcr::OUTER), USERS[0], &world);
    let mut violations = BTreeMap::new();
    let mut seen = BTreeSet::from([start.clone()]);
    let mut queue = VecDeque::from([(start, Vec::new())]);
    while let Some((cpu, history)) = queue.pop_front() {
        for operation in operations(gate, way, &rules, attacker) {
            let mut operations: Vec<Operation> = history.clone();
            operations.push(operation);
            let both = [Breach::OuterReachesInner, Breach::InnerReachesForged];
            if both.iter().all(|breach| violations.contains_key(breach)) {
                return violations; // Isolation is broken in both directions.
            }
            let (next, breaches) = perform(cpu.clone(), (gate, way), operation, &world);
            for breach in breaches {
                violations.entry(breach).or_insert_with(|| Violation {
                    breach,
                    operations: operations.clone(),
                });
            }
            if let Some(next) = next
                && seen.insert(next.clone())
            {
                queue.push_back((next, operations));
            }
        }
    }
    violations
}

fn operations(gate: &Gate, way: Option<&Way>, rules: &Rules, attacker: bool) -> Vec<Operation> {
    let mut operations = vec![Operation::Call];
    operations.extend(USERS.map(Operation::Switch));
    if !rules.reserved_asid_kept {
        operations.push(Operation::Switch(tcr::RESERVED_ASID));
    }
    if !rules.compartment_asid_kept {
        operations.push(Operation::Switch(tcr::COMPARTMENT_ASID));
    }
    if way.is_some() {
        operations.extend([false, true].map(Operation::Run));
    }
    if attacker {
        for step in gate.entrances() {
            let jump = |register| Operation::Jump { step, register };
            operations.extend(Tcr::all().map(jump));
        }
    }
    operations
}

/// The CPU afterwards, none if the machine has stopped, and the breaches on the way.
fn perform(
    mut cpu: Cpu,
    (gate, way): (&Gate, Option<&Way>),
    operation: Operation,
    world: &World,
) -> (Option<Cpu>, BTreeSet<Breach>) {
    let mut breaches = BTreeSet::new();
    let goes_on = match operation {
        Operation::Switch(asid) => {
            cpu.write_user(asid, Lower::Process, world);
            cpu.synchronize(world);
            true
        }
        Operation::Call => run(&mut cpu, gate, &gate.steps, world, &mut breaches),
        Operation::Run(which) => {
            let (before, behind) = gate.steps.split_at(gate.inner());
            // A call that is made as it is meant finds what it compares with.
            let _ = run(&mut cpu, gate, before, world, &mut breaches);
            if let Some(way) = way {
                way.run(&mut cpu, gate, which, world, &mut breaches);
            }
            run(&mut cpu, gate, behind, world, &mut breaches)
        }
        Operation::Jump { step, register } => {
            let mut steps = gate.steps[step..].to_vec();
            if let Step::Write(value) = &mut steps[0] {
                *value = register;
            }
            run(&mut cpu, gate, &steps, world, &mut breaches)
        }
    };
    if goes_on {
        breaches.extend(cpu.breaches(Who::Outer, world));
    }
    (goes_on.then_some(cpu), breaches)
}

/// Whether the outer domain goes on afterwards.
fn run(
    cpu: &mut Cpu,
    gate: &Gate,
    steps: &[Step],
    world: &World,
    breaches: &mut BTreeSet<Breach>,
) -> bool {
    for &step in steps {
        match step {
            Step::Write(value) => cpu.write_tcr(value, world),
            Step::Synchronize => cpu.synchronize(world),
            Step::Invalidate(invalidation) => cpu.invalidate(invalidation, world),
            Step::Complete => cpu.complete_invalidation(world),
            Step::RunInner => breaches.extend(cpu.breaches(Who::Inner, world)),
            Step::Return => {}
            Step::Compare(value) if cpu.tcr() == value => {}
            Step::Compare(_) => {
                let repair = gate.repair();
                let _ = run(cpu, gate, &repair, world, breaches);
                let stops = gate.mismatch == Mismatch::InvalidateAndStop;
                let rest = &gate.steps[gate.inner() + 1..];
                return !stops && run(cpu, gate, rest, world, breaches);
            }
        }
    }
    true
}
