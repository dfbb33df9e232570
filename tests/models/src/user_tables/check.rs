// SPDX-License-Identifier: MIT OR Apache-2.0
//! Walks the tree of a process independently of the rules.

use std::collections::BTreeMap;

use super::World;

/// PXNTable: EL1 executes nothing below, whatever a leaf says.
const NO_EL1_BELOW: u64 = 1 << 59;

/// What an address shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The descriptor.
    pub descriptor: u64,
    /// Bytes.
    pub size: u64,
}

/// All leaves of a tree, and how many tables it has, the root among them. A table that is reached
/// twice is wrong.
pub fn leaves(world: &mut World, root: u64) -> (BTreeMap<u64, Leaf>, Vec<u64>) {
    let mut found = BTreeMap::new();
    let mut tables = vec![root];
    below(world, root, 0, 0, &mut found, &mut tables);
    let mut sorted = tables.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() != tables.len() {
        world
            .wrong
            .push(format!("a table of {root:#x} is in it twice"));
    }
    (found, tables)
}

fn below(
    world: &mut World,
    table: u64,
    level: u32,
    base: u64,
    found: &mut BTreeMap<u64, Leaf>,
    tables: &mut Vec<u64>,
) {
    for index in 0..512 {
        let descriptor = world.get(table + index * 8);
        let size = 1 << (39 - 9 * level);
        let va = base + index * size;
        match (descriptor & 3, level) {
            (3, 0..3) => {
                let next = descriptor & 0xffff_ffff_f000;
                if descriptor & NO_EL1_BELOW == 0 {
                    let place = format!("EL1 may execute below {next:#x}: no PXNTable");
                    world.wrong.push(place);
                }
                tables.push(next);
                below(world, next, level + 1, va, found, tables);
            }
            (1, 2) | (3, 3) => {
                found.insert(va, Leaf { descriptor, size });
            }
            _ => {}
        }
    }
}
