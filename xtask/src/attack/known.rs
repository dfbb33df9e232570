// SPDX-License-Identifier: MIT OR Apache-2.0
//! All attacks by name, for what compares them with the documentation.

use super::{gate, jumps, list};

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

/// The attacks of the hostile module, the jumps into the gate, and the runs through it.
pub fn known() -> Vec<Known> {
    let module = list::ALL.iter().map(|attack| Known {
        names: vec![attack.id],
        controls: attack
            .controls
            .iter()
            .map(|it| KnownControl {
                without: it.without.name(),
                seen_as: it.seen_as,
            })
            .collect(),
    });
    let jumps = jumps::all().into_iter().map(|jump| Known {
        names: vec![jump.name],
        controls: jump
            .without()
            .map(|it| KnownControl {
                without: it.to_owned(),
                seen_as: &[],
            })
            .into_iter()
            .collect(),
    });
    let gate = Known {
        names: vec![gate::NAME],
        controls: Vec::new(),
    };
    module.chain(jumps).chain([gate]).collect()
}
