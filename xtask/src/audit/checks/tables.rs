// SPDX-License-Identifier: MIT OR Apache-2.0
//! I1: every table that can be reached is a PT frame. (That it has one parent, one level and one
//! address is noted while walking.)

use crate::audit::frames::{Class, Frames};
use crate::audit::report::Violation;
use crate::audit::snapshot::Snapshot;
use crate::audit::walk::{Space, Walks};

/// Tables in frames that are no PT frames. Run before those frames are adopted as such.
pub fn check(snapshot: &Snapshot, walks: &Walks<'_>, frames: &Frames) -> Vec<Violation> {
    let facts = &snapshot.facts;
    let mut violations = Vec::new();
    if facts.table_pools.is_empty() {
        violations.push(Violation::plain(
            "I1",
            "Linux",
            "no table pool was announced at boot, so nothing says which frames tables may be in"
                .to_owned(),
        ));
    }
    for (pa, table) in &walks.tables {
        let class = frames.class(*pa);
        let right = match table.space {
            Space::InnerOnly => class == Class::Inner,
            Space::Kernel => class.is_table(),
            Space::User(_) => {
                class == Class::Table || *pa == facts.linux.to_physical(facts.linux.reserved_root)
            }
        };
        if !right {
            violations.push(Violation {
                invariant: "I1",
                va: Some(table.va),
                pa: Some(*pa),
                level: Some(table.level),
                descriptor: Some(table.descriptor),
                owner: class.name().to_owned(),
                text: format!(
                    "a table of level {} is in no PT frame, through {}",
                    table.level, table.space
                ),
            });
        }
    }
    violations
}
