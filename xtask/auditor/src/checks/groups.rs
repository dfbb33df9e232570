// SPDX-License-Identifier: MIT OR Apache-2.0
//! I10: blocks and contiguous groups over frames of one type, one memory attribute per guarded
//! frame, and no change of size in the linear map.

use std::collections::HashMap;

use super::World;
use crate::frames::{Class, in_linear_map};
use crate::report::Violation;
use crate::walk::{Leaf, Space};

/// MAIR byte of normal memory, write-back, allocating.
const WRITE_BACK: u64 = 0xff;
/// SH: inner shareable.
const INNER_SHAREABLE: u64 = 0b11;
/// Entries of a contiguous group.
const GROUP: u64 = 16;
/// Address bits of a descriptor.
const ADDRESS: u64 = 0x0000_ffff_ffff_f000;

/// Checks every leaf, the inner-only ones for their attributes alone.
pub fn check(world: &World<'_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mair = world.snapshot.running().next().map_or(0, |it| it.mair);
    let mut contiguous = Vec::new();
    for leaf in &world.walks.leaves {
        attributes(world, leaf, mair, &mut violations);
        if leaf.space.outer() && leaf.level < 3 {
            one_type(
                world,
                leaf,
                leaf.pa,
                leaf.size(),
                "a block",
                &mut violations,
            );
        }
        if leaf.space.outer() && leaf.attributes().contiguous() {
            contiguous.push(leaf);
        }
    }
    if !contiguous.is_empty() {
        groups(world, &contiguous, &mut violations);
    }
    violations
}

/// The leaf sizes of the linear map, by address.
pub fn linear_sizes(leaves: &[Leaf]) -> HashMap<u64, u8> {
    let linear = leaves.iter().filter(|it| in_linear_map(it));
    linear.map(|it| (it.va, it.level)).collect()
}

/// Leaves of the linear map that had another size in `before`.
pub fn resized(world: &World<'_>, before: &HashMap<u64, u8>) -> Vec<Violation> {
    let linear = world.walks.leaves.iter().filter(|it| in_linear_map(it));
    let changed = linear.filter(|it| before.get(&it.va).is_some_and(|level| *level != it.level));
    changed
        .map(|it| {
            let text = "a live mapping of the linear map changed its size";
            it.violates("I10", it.pa, &world.owner(it.pa), text)
        })
        .collect()
}

fn one_type(
    world: &World<'_>,
    leaf: &Leaf,
    start: u64,
    size: u64,
    what: &str,
    violations: &mut Vec<Violation>,
) {
    let mut classes = world.frames.classes(start, size);
    // Devices are I15's, frame by frame.
    classes.retain(|class, _| !class.is_device());
    if is_mixed(classes.keys()) {
        let names: Vec<_> = classes.keys().map(|it| it.name()).collect();
        let (_, other) = classes
            .iter()
            .next_back()
            .unwrap_or((&Class::Ordinary, &start));
        let text = format!("{what} covers frames of types {}", names.join(", "));
        let pa = if (leaf.pa..leaf.pa + leaf.size()).contains(other) {
            *other
        } else {
            leaf.pa
        };
        violations.push(leaf.violates("I10", pa, &world.owner(*other), &text));
    }
}

fn is_mixed<'a>(mut classes: impl Iterator<Item = &'a Class>) -> bool {
    let first = classes.next().map(|it| it.in_a_block());
    classes.any(|it| Some(it.in_a_block()) != first)
}

fn attributes(world: &World<'_>, leaf: &Leaf, mair: u64, violations: &mut Vec<Violation>) {
    let own = leaf.attributes();
    let memory = mair >> (8 * own.memory_index()) & 0xff;
    if memory == WRITE_BACK && own.shareability() == INNER_SHAREABLE {
        return;
    }
    for (class, pa) in world.frames.classes(leaf.pa, leaf.size()) {
        if memory == WRITE_BACK && !class.is_device() {
            let text = format!(
                "cached memory is not inner shareable, SH {:#04b}",
                own.shareability()
            );
            violations.push(leaf.violates("I10", pa, &world.owner(pa), &text));
        } else if class.has_one_attribute() {
            let text = format!(
                "a guarded frame has memory attribute {memory:#04x}, SH {:#04b}",
                own.shareability()
            );
            violations.push(leaf.violates("I10", pa, &world.owner(pa), &text));
        }
    }
}

fn groups(world: &World<'_>, contiguous: &[&Leaf], violations: &mut Vec<Violation>) {
    let place = |it: &Leaf| (it.space, it.level, it.va);
    let all: HashMap<(Space, u8, u64), &Leaf> =
        contiguous.iter().map(|it| (place(it), *it)).collect();
    for leaf in contiguous {
        if in_linear_map(leaf) {
            let text = "a contiguous entry in the linear map";
            violations.push(leaf.violates("I10", leaf.pa, &world.owner(leaf.pa), text));
        }
        let span = GROUP * leaf.size();
        let first = leaf.va & !(span - 1);
        let start = leaf.pa & !(span - 1);
        let like = |number: u64| {
            let va = first + number * leaf.size();
            all.get(&(leaf.space, leaf.level, va)).is_some_and(|it| {
                it.pa == start + number * leaf.size()
                    && (it.descriptor ^ leaf.descriptor) & !ADDRESS == 0
            })
        };
        if !(0..GROUP).all(like) {
            let text = "a contiguous entry is not one of sixteen alike";
            violations.push(leaf.violates("I10", leaf.pa, &world.owner(leaf.pa), text));
        } else if leaf.va == first {
            one_type(world, leaf, start, span, "a contiguous group", violations);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_the_table_block_share_a_block_and_nothing_else_does() {
        let constants = [Class::ReadOnly, Class::TableBlock];
        assert!(!is_mixed(constants.iter()));
        assert!(!is_mixed([].iter()));
        for other in [
            Class::Ordinary,
            Class::Table,
            Class::KernelText,
            Class::Vectors,
            Class::TextPool,
            Class::Private,
            Class::Inner,
        ] {
            assert!(!is_mixed([other].iter()));
            for constant in constants {
                assert!(is_mixed([constant, other].iter()));
                assert!(is_mixed([other, constant].iter()));
            }
        }
    }
}
