// SPDX-License-Identifier: MIT OR Apache-2.0
//! Barriers around invalidations.
//!
//! A DSB orders the stores of the CPU that executes it, and waits for the invalidations of that
//! CPU alone (Arm DDI 0487, D8.17). So a store counts as visible to walks after a barrier of its
//! own CPU, and an invalidation as complete after a DSB ISH of its own; a barrier for stores
//! alone does not wait for invalidations.

use std::collections::BTreeMap;

use super::Position;

/// An invalidation that was issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalidation {
    /// Leaves of an address, under every ASID.
    Leaf(u64),
    /// Everything that a walk for an address may have left, under every ASID.
    Table(u64),
    /// What belongs to an ASID.
    Asid(u16),
    /// Everything.
    All,
}

/// What each CPU has not waited for yet.
#[derive(Default)]
pub struct Order {
    stores: BTreeMap<usize, Position>,
    issued: BTreeMap<usize, Vec<(Invalidation, Position)>>,
}

impl Order {
    /// A store of a CPU. Gives an invalidation of that CPU that is not complete.
    pub fn store(&mut self, cpu: usize, at: Position) -> Option<(Invalidation, Position)> {
        self.stores.entry(cpu).or_insert(at);
        self.issued.get(&cpu).and_then(|it| it.first().copied())
    }

    /// An invalidation. Gives a store that may not be visible yet, and its CPU; the same store is
    /// given once.
    pub fn invalidate(
        &mut self,
        cpu: usize,
        invalidation: Invalidation,
        at: Position,
    ) -> Option<(usize, Position)> {
        self.issued.entry(cpu).or_default().push((invalidation, at));
        self.stores.pop_first()
    }

    /// A barrier for stores.
    pub fn store_barrier(&mut self, cpu: usize) {
        self.stores.remove(&cpu);
    }

    /// A barrier for everything. Gives what is complete now.
    pub fn barrier(&mut self, cpu: usize) -> Vec<(Invalidation, Position)> {
        self.store_barrier(cpu);
        self.issued.remove(&cpu).unwrap_or_default()
    }
}
