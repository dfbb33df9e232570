// SPDX-License-Identifier: MIT OR Apache-2.0
//! I6, and I9's reserved ASID: the registers of every CPU that runs.

use std::collections::BTreeMap;

use donjon_abi::layout::{GATE, PAGE_SIZE};
use donjon_abi::tcr::{
    COMPARTMENT_ASID, INNER, INNER_TLBI, INSIDE, LAST_RESERVED_ASID, MAIR, OUTER, RESERVED_ASID,
    STRICT_MIDDLE,
};

use super::World;
use crate::frames::block_root;
use crate::report::Violation;
use crate::snapshot::{Cpu, Facts, INNER_CODE};

/// Bits of SCTLR_EL1 with one right value, whatever the CPU has (DDI 0487, D24.2, SCTLR_EL1):
/// M, A, C, SA, SA0, UMA, I, WXN, E0E, EE, NMI and SPINTMASK.
const SCTLR_FIXED: u64 = 1
    | 1 << 1
    | 1 << 2
    | 1 << 3
    | 1 << 4
    | 1 << 9
    | 1 << 12
    | 1 << 19
    | 1 << 24
    | 1 << 25
    | 1 << 61
    | 1 << 62;
/// The right value: M, C, SA, SA0 and I.
const SCTLR_VALUE: u64 = 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 12;

/// EnDB, EnDA, EnIB and EnIA: Linux enables the keys of processes together or not at all.
const SCTLR_KEYS: u64 = 1 << 13 | 1 << 27 | 1 << 30 | 1 << 31;

/// CnP of a TTBR.
const CNP: u64 = 1;

/// Whether a CPU is inside the inner domain: another TCR_EL1, and a PC in the gate or below it.
pub fn is_inside(cpu: &Cpu) -> bool {
    let gate = GATE..GATE + PAGE_SIZE;
    (INNER_CODE.contains(&cpu.pc) || gate.contains(&cpu.pc))
        && [INNER, INNER_TLBI, STRICT_MIDDLE].contains(&cpu.tcr)
}

/// Whether a CPU is in a compartment, or on the way: judged by its own rules.
///
/// The way in and out writes one register after the other. It may stop between TTBR0_EL1 and
/// VBAR_EL1, and only its PC shows it then.
pub fn is_in_compartment(facts: &Facts, cpu: &Cpu) -> bool {
    let on_the_way =
        || cpu.ttbr0 >> 48 == u64::from(COMPARTMENT_ASID) || facts.image.context.contains(&cpu.pc);
    cpu.tcr == INSIDE || (is_inside(cpu) && on_the_way())
}

/// Checks every CPU that runs.
pub fn check(world: &World<'_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    for cpu in world.outside_compartments() {
        one(world, cpu, &mut violations);
    }
    identifiers(world, &mut violations);
    trees(world, &mut violations);
    alike(world, &mut violations);
    violations
}

fn one(world: &World<'_>, cpu: &Cpu, violations: &mut Vec<Violation>) {
    let facts = &world.snapshot.facts;
    let mut wrong = |invariant, text: String| {
        let owner = format!("CPU {}", cpu.number);
        violations.push(Violation {
            va: Some(cpu.pc),
            ..Violation::plain(invariant, &owner, text)
        });
    };
    let mut equal = |name: &str, value: u64, right: u64| {
        if value != right {
            wrong("I6", format!("{name} is {value:#x} and not {right:#x}"));
        }
    };
    if !is_inside(cpu) {
        equal("TCR_EL1", cpu.tcr, OUTER);
    }
    let boot = block_root(facts) | u64::from(RESERVED_ASID) << 48;
    equal("TTBR1_EL1", cpu.ttbr1, boot);
    equal("VBAR_EL1", cpu.vbar, facts.linux.vectors);
    equal("MAIR_EL1", cpu.mair, MAIR);
    // What it adds to MAIR_EL1 is IMPLEMENTATION DEFINED; QEMU has nothing, and Linux writes
    // nothing.
    equal("AMAIR_EL1", cpu.amair, 0);
    equal(
        "SCTLR_EL1, fixed bits",
        cpu.sctlr & SCTLR_FIXED,
        SCTLR_VALUE,
    );
    let keys = cpu.sctlr & SCTLR_KEYS;
    if keys != 0 {
        equal("SCTLR_EL1, keys of pointers", keys, SCTLR_KEYS);
    }
    for (name, value) in &cpu.extensions {
        equal(name, *value, 0);
    }
    for (invariant, text) in user_half(world, cpu) {
        wrong(invariant, format!("TTBR0_EL1 is {:#x}: {text}", cpu.ttbr0));
    }
}

/// What is wrong with TTBR0_EL1 of a CPU that is in no compartment. It is the empty root with ASID
/// 0, or the root of its ASID's tree.
pub(super) fn user_half(world: &World<'_>, cpu: &Cpu) -> Vec<(&'static str, String)> {
    let facts = &world.snapshot.facts;
    let mut wrong = Vec::new();
    if cpu.ttbr0 & CNP != 0 {
        wrong.push(("I6", "CnP is set".to_owned()));
    }
    let asid = cpu.ttbr0 >> 48;
    let root = cpu.user_root();
    let is_empty = root == facts.linux.to_physical(facts.linux.reserved_root);
    if asid == u64::from(RESERVED_ASID) {
        wrong.push(("I9", "the reserved ASID".to_owned()));
    }
    match (is_empty, asid) {
        (true, 0) | (false, 1..) => (),
        (true, _) => wrong.push(("I6", format!("the empty root with ASID {asid:#x}"))),
        (false, _) => wrong.push(("I6", "a user root with ASID 0".to_owned())),
    }
    if cpu.ttbr0 & 0xffe != 0 {
        wrong.push(("I6", "bits of the address that no root has".to_owned()));
    }
    if is_empty {
        return wrong;
    }
    if !facts.user_arena.contains(&root) {
        let what = world.owner(root);
        wrong.push(("I6", format!("no root of the arena but {what}")));
    } else if facts.user_trees.get(&(asid as u16)) != Some(&root) {
        let text = format!("{root:#x} is not the root of ASID {asid:#x}");
        wrong.push(("I6", text));
    }
    wrong
}

/// One ASID for one root, one root with one ASID.
fn identifiers(world: &World<'_>, violations: &mut Vec<Violation>) {
    let facts = &world.snapshot.facts;
    let reserved = facts.linux.to_physical(facts.linux.reserved_root);
    let mut root_of: BTreeMap<u64, &Cpu> = BTreeMap::new();
    let mut asid_of: BTreeMap<u64, &Cpu> = BTreeMap::new();
    let users = world
        .outside_compartments()
        .filter(|it| it.user_root() != reserved);
    for cpu in users {
        let asid = cpu.ttbr0 >> 48;
        let first = root_of.entry(asid).or_insert(cpu);
        let mut wrong = |other: &Cpu, text: String| {
            let owner = format!("CPUs {} and {}", other.number, cpu.number);
            violations.push(Violation::plain("I6", &owner, text));
        };
        if first.user_root() != cpu.user_root() {
            let text = format!(
                "ASID {asid:#x} serves two roots, {:#x} and {:#x}",
                first.user_root(),
                cpu.user_root()
            );
            wrong(first, text);
        }
        let first = asid_of.entry(cpu.user_root()).or_insert(cpu);
        if first.ttbr0 >> 48 != asid {
            let text = format!(
                "root {:#x} has two ASIDs, {:#x} and {asid:#x}",
                cpu.user_root(),
                first.ttbr0 >> 48
            );
            wrong(first, text);
        }
    }
}

/// The trees of ASIDs, whether a CPU has them or not.
fn trees(world: &World<'_>, violations: &mut Vec<Violation>) {
    let mut asid_of: BTreeMap<u64, u16> = BTreeMap::new();
    for (asid, root) in &world.snapshot.facts.user_trees {
        let mut wrong = |invariant, text: String| {
            violations.push(Violation {
                pa: Some(*root),
                ..Violation::plain(invariant, "inner", text)
            });
        };
        if u64::from(*asid) <= u64::from(LAST_RESERVED_ASID) {
            wrong("I9", format!("ASID {asid:#x} is reserved and has a tree"));
        }
        if let Some(other) = asid_of.insert(*root, *asid) {
            let text = format!("a tree has two ASIDs, {other:#x} and {asid:#x}");
            wrong("I6", text);
        }
    }
}

/// What must have the same value on all CPUs, whatever it is.
fn alike(world: &World<'_>, violations: &mut Vec<Violation>) {
    if world.snapshot.running().next().is_none() {
        violations.push(Violation::plain("I6", "machine", "no CPU runs".to_owned()));
    }
    let mut cpus = world.outside_compartments();
    let Some(first) = cpus.next() else {
        return;
    };
    for cpu in cpus {
        let mut differs = |name: &str, one: u64, other: u64| {
            if one != other {
                let owner = format!("CPUs {} and {}", first.number, cpu.number);
                let text = format!("{name} differs: {one:#x} and {other:#x}");
                violations.push(Violation::plain("I6", &owner, text));
            }
        };
        differs("SCTLR_EL1", first.sctlr, cpu.sctlr);
        differs("AMAIR_EL1", first.amair, cpu.amair);
        for ((name, one), (_, other)) in first.extensions.iter().zip(&cpu.extensions) {
            // POR_EL0 would be each process's own; the kernel's registers are not.
            differs(name, *one, *other);
        }
    }
}
