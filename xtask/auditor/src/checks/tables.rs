// SPDX-License-Identifier: MIT OR Apache-2.0
//! I1: every kernel table that can be reached is a PT frame, typed as a table of its level, and
//! every table of a user is in the arena. (That it has one parent, one level and one address is
//! noted while walking.)

use crate::frames::{Class, Frames};
use crate::metadata::KERNEL_ROOT;
use crate::report::Violation;
use crate::snapshot::Snapshot;
use crate::walk::{Space, Walks};

/// How a violation begins that is about the types of frames; see `audit::live`.
pub const TYPE_TABLE: &str = "the inner domain has written down that";

/// Tables in frames that are no PT frames. Run before those frames are counted as PT frames.
pub fn check(snapshot: &Snapshot, walks: &Walks<'_>, frames: &Frames) -> Vec<Violation> {
    let facts = &snapshot.facts;
    let mut violations = Vec::new();
    if facts.table_pools.is_empty() {
        violations.push(Violation::plain(
            "I1",
            "Linux",
            "there is no pool of tables".to_owned(),
        ));
    }
    let own = |pa: u64| facts.user_arena.contains(&pa);
    let empty = facts.linux.to_physical(facts.linux.reserved_root);
    for (pa, table) in &walks.tables {
        let class = frames.class(*pa);
        let right = match table.space {
            Space::InnerOnly => class == Class::Inner,
            Space::Kernel => class.is_table(),
            Space::User(_) => own(*pa) || *pa == empty,
        };
        let mut wrong = |text: String| {
            violations.push(Violation {
                invariant: "I1",
                va: Some(table.va),
                pa: Some(*pa),
                level: Some(table.level),
                descriptor: Some(table.descriptor),
                owner: class.name().to_owned(),
                text,
            });
        };
        if !right {
            wrong(format!(
                "a table of level {} is in no PT frame, through {}",
                table.level, table.space
            ));
        }
        if table.space != Space::Kernel || class == Class::TableBlock {
            continue;
        }
        let kind = facts.metadata.kind(*pa);
        if kind != Some(KERNEL_ROOT + table.level) {
            wrong(format!(
                "{TYPE_TABLE} a table of level {} is of type {kind:?}, through {}",
                table.level, table.space
            ));
        }
    }
    violations
}
