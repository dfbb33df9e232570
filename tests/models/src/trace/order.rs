// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks the barriers around invalidations.
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
    /// The leaf of an address under an ASID.
    Page(u16, u64),
    /// What belongs to an ASID.
    Asid(u16),
    /// Everything.
    All,
}

impl Invalidation {
    /// Whether it is made under the lock of the kernel's tables.
    const fn is_kernels(self) -> bool {
        matches!(self, Self::Leaf(_) | Self::Table(_) | Self::All)
    }
}

/// What each CPU has not waited for yet.
#[derive(Default)]
pub struct Order {
    /// First store of a CPU to a table of a user, and of the kernel.
    users: BTreeMap<usize, Position>,
    kernels: BTreeMap<usize, Position>,
    issued: BTreeMap<usize, Vec<(Invalidation, Position)>>,
}

impl Order {
    /// A store of a CPU, to a table of a user or of the kernel. Gives an invalidation of that CPU
    /// that is not complete.
    pub fn store(
        &mut self,
        cpu: usize,
        user: bool,
        at: Position,
    ) -> Option<(Invalidation, Position)> {
        let stores = if user {
            &mut self.users
        } else {
            &mut self.kernels
        };
        stores.entry(cpu).or_insert(at);
        self.incomplete(cpu)
    }

    /// An invalidation of a CPU that is not complete.
    pub fn incomplete(&self, cpu: usize) -> Option<(Invalidation, Position)> {
        self.issued.get(&cpu).and_then(|it| it.first().copied())
    }

    /// Notes an invalidation. Gives a store that may not be visible yet, and its CPU; each store is
    /// given once. The store is one of this CPU, or where the kernel's tables are concerned, of
    /// any: one CPU clears an entry of those, and a second invalidates it in a later call. Of a
    /// user's tables both is done in one call.
    pub fn invalidate(
        &mut self,
        cpu: usize,
        invalidation: Invalidation,
        at: Position,
    ) -> Option<(usize, Position)> {
        self.issued.entry(cpu).or_default().push((invalidation, at));
        let user = self.users.remove_entry(&cpu);
        if invalidation.is_kernels() {
            user.or_else(|| self.kernels.pop_first())
        } else {
            user.or_else(|| self.kernels.remove_entry(&cpu))
        }
    }

    /// A barrier for stores.
    pub fn store_barrier(&mut self, cpu: usize) {
        self.users.remove(&cpu);
        self.kernels.remove(&cpu);
    }

    /// A barrier for everything. Gives what is complete now.
    pub fn barrier(&mut self, cpu: usize) -> Vec<(Invalidation, Position)> {
        self.store_barrier(cpu);
        self.issued.remove(&cpu).unwrap_or_default()
    }
}
