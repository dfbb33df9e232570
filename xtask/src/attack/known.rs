// SPDX-License-Identifier: MIT OR Apache-2.0
//! All attacks by name, for what compares them with the documentation.

use super::list;

/// An attack of any kind.
pub struct Known {
    /// What it may be called. The first name is the one to show.
    pub names: Vec<&'static str>,
    /// Its controls.
    pub controls: Vec<KnownControl>,
}

/// A control of an attack.
pub struct KnownControl {
    /// What the build is without, as the names of tests have it.
    pub without: String,
    /// Invariants that the auditor has to name afterwards.
    pub seen_as: &'static [&'static str],
}

/// All rows of the table.
pub fn known() -> Vec<Known> {
    let rows = list::SUBJECTS.iter().flat_map(|it| it.attacks);
    rows.map(|attack| Known {
        names: [Some(attack.name), attack.alias]
            .into_iter()
            .flatten()
            .collect(),
        controls: attack
            .controls
            .iter()
            .map(|it| KnownControl {
                without: it.without.name(),
                seen_as: it.seen_as,
            })
            .collect(),
    })
    .collect()
}
