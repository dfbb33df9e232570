// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the inner domain makes for one compartment alone.

use donjon_abi::call::{Nothing, Purpose, requests};

use crate::request::ask;

/// Random bytes. None if this machine has no source of them.
pub fn random() -> Option<[u8; 32]> {
    // SAFETY: the request touches no memory.
    let it = unsafe { ask::<requests::Random>(&Nothing {}) };
    (it.found == 1).then_some(it.bytes)
}

/// A key for a purpose, which no compartment with another measurement gets. None if this boot has
/// no secret.
pub fn key(purpose: u64) -> Option<[u8; 32]> {
    // SAFETY: the request touches no memory.
    let it = unsafe { ask::<requests::Key>(&Purpose { purpose }) };
    (it.found == 1).then_some(it.key)
}
