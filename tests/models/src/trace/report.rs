// SPDX-License-Identifier: MIT OR Apache-2.0
//! The result of the checks: violations, and how many events were checked.

use std::collections::BTreeMap;
use std::fmt;

use donjon_abi::trace::RecordKind;

use super::{Event, Position};

/// What a trace must keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A valid entry changes to another valid one in its permissions alone.
    LiveChange,
    /// An entry becomes valid only after what it was before is in no TLB.
    NotInvalidated,
    /// A table is linked in one place.
    LinkedTwice,
    /// A table is used again only when no TLB leads to it any more.
    TableHeld,
    /// A frame is zeroed only when it is linked nowhere, or its tree was dropped.
    ZeroedInUse,
    /// A tree that was dropped is not loaded again.
    LoadedGone,
    /// A process has ordinary memory, for itself alone and never executable at EL1.
    Forbidden,
    /// A block stops being ordinary only when no process has anything of it.
    StillMapped,
    /// What a process lost is invalidated before the call ends.
    LeftHeld,
    /// A frame becomes a table's only when no TLB has a writable entry for it.
    WritableHeld,
    /// A frame becomes ordinary memory only when no TLB takes it for a table.
    ReleasedHeld,
    /// An ASID changes hands only when nothing is held under it.
    AsidHeld,
    /// Two roots do not share an ASID, nor does one have two.
    AsidShared,
    /// All stores are visible before an invalidation.
    Unordered,
    /// An invalidation is complete before the next store of its CPU.
    Incomplete,
    /// The trace has every store to a table.
    Unrecorded,
}

impl Rule {
    /// What was missing where it was broken.
    pub const fn missing(self) -> &'static str {
        match self {
            Self::LiveChange => "an invalid entry, an invalidation and a DSB in between",
            Self::NotInvalidated => {
                "a completed invalidation of the address and ASID since the entry was cleared"
            }
            Self::LinkedTwice => "the removal of the other link",
            Self::TableHeld => {
                "a completed invalidation of the ASID that the table was linked under"
            }
            Self::ZeroedInUse => "the removal of the link",
            Self::LoadedGone => "a new tree",
            Self::Forbidden => "a refusal",
            Self::StillMapped => "the removal of the entry, invalidated",
            Self::LeftHeld => "a completed invalidation of the address and ASID",
            Self::WritableHeld => "a completed invalidation since the frame was writable",
            Self::ReleasedHeld => "a completed invalidation since the frame was a table",
            Self::AsidHeld => "a completed invalidation of the ASID since its last use",
            Self::AsidShared => "an ASID of its own",
            Self::Unordered => "a DSB between the store and the invalidation",
            Self::Incomplete => "a DSB ISH between the invalidation and the store",
            Self::Unrecorded => "a record of a store",
        }
    }
}

/// A step that broke a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Number of the step in the trace.
    pub position: Position,
    /// The step.
    pub event: Event,
    /// The rule.
    pub rule: Rule,
    /// What it met.
    pub met: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            position,
            event,
            rule,
            met,
        } = self;
        let Event { cpu, action } = event;
        write!(f, "step {position}, CPU {cpu}, {action}: {rule:?}, {met}; ")?;
        write!(f, "missing: {}", rule.missing())
    }
}

/// What was looked at.
///
/// [`Display`](fmt::Display) says it in a line.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Events by kind, once the tables were known.
    pub events: BTreeMap<RecordKind, usize>,
    /// Valid entries that changed in their permissions.
    pub permissions: usize,
    /// Entries that became valid.
    pub made: usize,
    /// Entries that an invalidation by address took out of the TLBs.
    pub dropped: usize,
    /// Tables that were linked.
    pub links: usize,
    /// Tables that were linked and had been linked before.
    pub again: usize,
    /// Entries that became a process's.
    pub filled: usize,
    /// Trees that were dropped, as far as that shows.
    pub trees: usize,
    /// Loads of a root under an ASID that was not its own before.
    pub asids: usize,
    /// Blocks of memory that became tables.
    pub blocks: usize,
    /// Violations by rule.
    pub violations: BTreeMap<Rule, usize>,
}

impl Counters {
    /// Steps in all.
    pub fn steps(&self) -> usize {
        self.events.values().sum()
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} steps", self.steps())?;
        let counts = [
            (self.permissions, "changes of permissions"),
            (self.made, "entries made valid"),
            (self.dropped, "dropped by address"),
            (self.links, "tables linked"),
            (self.again, "of them again"),
            (self.filled, "entries of processes"),
            (self.trees, "trees dropped"),
            (self.asids, "ASIDs given"),
            (self.blocks, "blocks made tables"),
        ];
        for (count, what) in counts {
            write!(f, ", {count} {what}")?;
        }
        for (kind, count) in &self.events {
            write!(f, ", {count} {kind:?}")?;
        }
        for (rule, count) in &self.violations {
            write!(f, ", {count} broken: {rule:?}")?;
        }
        Ok(())
    }
}
