// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts the outcomes of calls, so that a run without any of a kind fails.

/// How often what happened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Calls.
    pub calls: u64,
    /// Leaves written.
    pub leaves: u64,
    /// Tables linked.
    pub links: u64,
    /// Tables unlinked.
    pub unlinks: u64,
    /// Tables released.
    pub releases: u64,
    /// Blocks that joined a pool.
    pub grown: u64,
    /// Blocks that left one.
    pub shrunk: u64,
    /// Blocks that became private memory.
    pub hidden: u64,
    /// Blocks of private memory that became ordinary.
    pub returned: u64,
    /// Pages made executable.
    pub sealed: u64,
    /// Calls refused.
    pub refused: u64,
}

impl Counters {
    const fn counts(&self) -> [u64; 11] {
        [
            self.calls,
            self.leaves,
            self.links,
            self.unlinks,
            self.releases,
            self.grown,
            self.shrunk,
            self.hidden,
            self.returned,
            self.sealed,
            self.refused,
        ]
    }

    /// The sum of two.
    pub const fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            leaves: self.leaves + other.leaves,
            links: self.links + other.links,
            unlinks: self.unlinks + other.unlinks,
            releases: self.releases + other.releases,
            grown: self.grown + other.grown,
            shrunk: self.shrunk + other.shrunk,
            hidden: self.hidden + other.hidden,
            returned: self.returned + other.returned,
            sealed: self.sealed + other.sealed,
            refused: self.refused + other.refused,
        }
    }

    /// Whether everything happened, and not just once.
    pub fn has_everything(&self) -> bool {
        self.counts().iter().all(|count| *count > 10)
    }
}
