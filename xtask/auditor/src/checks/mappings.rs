// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks of single leaves: I2, I3, I4, I5, I9, I13 and I15.

use std::collections::BTreeMap;

use donjon_abi::layout::GATE;

use super::World;
use crate::descriptor::PAGE;
use crate::frames::{Class, page_of};
use crate::report::Violation;
use crate::walk::{Leaf, Space};

/// Checks every leaf of the outer view, and that the inner ones are non-global.
pub fn check(world: &World<'_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    for leaf in &world.walks.leaves {
        scope(world, leaf, &mut violations);
        if leaf.space.outer() {
            targets(world, leaf, &mut violations);
            execution(world, leaf, &mut violations);
        }
    }
    one_address(world, &mut violations);
    violations
}

/// I9: who is global.
fn scope(world: &World<'_>, leaf: &Leaf, violations: &mut Vec<Violation>) {
    let text = match (leaf.space, leaf.attributes().global()) {
        (Space::Kernel, false) => "a leaf of the outer half is not global",
        (Space::InnerOnly, true) => "an inner-only leaf is global",
        (Space::User(_), true) => "a user leaf is global",
        _ => return,
    };
    violations.push(leaf.violates("I9", leaf.pa, &world.owner(leaf.pa), text));
}

/// I2, I3, I4 and I15: what a leaf shows, and with which permissions.
fn targets(world: &World<'_>, leaf: &Leaf, violations: &mut Vec<Violation>) {
    let writable = leaf.attributes().writable();
    for (class, pa) in world.frames.classes(leaf.pa, leaf.size()) {
        let (invariant, text) = match class {
            Class::Table | Class::TableBlock if writable => ("I2", "a PT frame is writable"),
            Class::Inner => ("I3", "an inner frame is mapped"),
            Class::Private => ("I19", "a private frame is mapped"),
            Class::Gate if leaf.va != GATE && !leaf.attributes().executable_at_el1() => {
                ("I3", "the gate page is mapped at another address")
            }
            Class::Gate | Class::KernelText | Class::Vectors | Class::ReadOnly if writable => {
                ("I4", "text or read-only data is writable")
            }
            Class::TextPool if writable => ("I4", "a frame of the text pool is writable"),
            Class::Device | Class::ReadableDevice if leaf.space != Space::Kernel => {
                ("I15", "a device is mapped for a process")
            }
            Class::ReadableDevice if writable => {
                ("I15", "registers of a withheld device are writable")
            }
            Class::Withheld => ("I15", "a withheld device is mapped"),
            Class::Nothing => ("I15", "something is mapped that is no device of the list"),
            _ => continue,
        };
        violations.push(leaf.violates(invariant, pa, &world.owner(pa), text));
    }
}

/// I4 and I5: what EL1 can execute.
fn execution(world: &World<'_>, leaf: &Leaf, violations: &mut Vec<Violation>) {
    let attributes = leaf.attributes();
    if !attributes.executable_at_el1() {
        return;
    }
    let mut add = |invariant, pa, text| {
        violations.push(leaf.violates(invariant, pa, &world.owner(pa), text));
    };
    if leaf.space != Space::Kernel {
        add("I5", leaf.pa, "a user mapping is executable at EL1");
    } else if attributes.user() {
        add(
            "I5",
            leaf.pa,
            "a mapping that EL0 has too is executable at EL1",
        );
    }
    if attributes.writable() {
        add("I4", leaf.pa, "writable and executable at EL1");
    }
    for (class, pa) in world.frames.classes(leaf.pa, leaf.size()) {
        if !class.is_text() && class != Class::Inner {
            add(
                "I4",
                pa,
                "executable at EL1 and no text, so perhaps writable",
            );
        }
    }
}

/// I13: gate and vectors are executable at one address each.
fn one_address(world: &World<'_>, violations: &mut Vec<Violation>) {
    let linux = &world.snapshot.facts.linux;
    let vectors = page_of(linux.to_physical(linux.vectors)).start;
    let gate = world.frames.gate.unwrap_or_default();
    let mut found: BTreeMap<u64, Vec<&Leaf>> = BTreeMap::new();
    let executable = world.walks.leaves.iter().filter(|it| {
        let attributes = it.attributes();
        it.space.outer() && (attributes.executable_at_el1() || attributes.executable_at_el0())
    });
    for leaf in executable {
        for frame in [gate, vectors] {
            if (leaf.pa..leaf.pa + leaf.size()).contains(&frame) {
                found.entry(frame).or_default().push(leaf);
            }
        }
    }
    let expected = [
        ("the gate page", gate, GATE),
        ("the vectors' page", vectors, linux.vectors & !(PAGE - 1)),
    ];
    for (what, frame, address) in expected {
        let leaves = found.remove(&frame).unwrap_or_default();
        let at = |it: &Leaf| it.va + (frame - it.pa);
        if !leaves
            .iter()
            .any(|it| it.space == Space::Kernel && at(it) == address)
        {
            violations.push(Violation {
                va: Some(address),
                pa: Some(frame),
                ..Violation::plain(
                    "I13",
                    &world.owner(frame),
                    format!("{what} is not executable at its address"),
                )
            });
        }
        for leaf in leaves {
            if leaf.space != Space::Kernel || at(leaf) != address {
                let text = format!("{what} is executable at a second address");
                violations.push(leaf.violates("I13", frame, &world.owner(frame), &text));
            }
        }
    }
    match world.frames.gate {
        Some(gate) if world.frames.class(gate) == Class::Gate => (),
        at => violations.push(Violation {
            va: Some(GATE),
            pa: at,
            ..Violation::plain(
                "I13",
                "gate",
                "the gate's address does not lead to a page of the inner domain".to_owned(),
            )
        }),
    }
}
