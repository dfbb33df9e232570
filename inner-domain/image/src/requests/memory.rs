// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests for memory: pages at the end of the heap. Without the protected state, which a
//! compartment that runs never sees, none is added or taken away.

use donjon_abi::call::{Pages, Resized};
use donjon_hal::steps::Executor;

use super::asked::Asked;
use crate::domain;

/// Adds pages at the end of the heap.
pub fn grow(asked: &mut Asked, Pages { pages }: Pages) -> Resized {
    let grown = domain::lock_after_handover().ok().and_then(|mut domain| {
        let (_, private) = domain.pools.private();
        let compartments = asked.compartments;
        compartments
            .grow(&mut Executor, private, asked.at, pages)
            .ok()
    });
    let (pages, all) = grown.unwrap_or((0, 0));
    Resized { pages, all }
}

/// Takes pages away at the end of the heap.
pub fn shrink(asked: &mut Asked, Pages { pages }: Pages) -> Resized {
    let shrunk = domain::lock_after_handover().ok().and_then(|mut domain| {
        let (_, private) = domain.pools.private();
        let compartments = asked.compartments;
        compartments
            .shrink(&mut Executor, private, asked.at, pages)
            .ok()
    });
    let Some((pages, all, tag)) = shrunk else {
        return Resized { pages: 0, all: 0 };
    };
    asked.entry.tag = tag;
    Resized { pages, all }
}
