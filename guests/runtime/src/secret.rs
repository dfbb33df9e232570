// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the inner domain makes for one compartment alone.

use donjon_abi::call::Supervisor;

use crate::request::digest;

/// Random bytes. None if this machine has no source of them.
pub fn random() -> Option<[u8; 32]> {
    // SAFETY: it is a request of this kind.
    unsafe { digest::<{ Supervisor::Random as u64 }>(0) }
}

/// A key for a purpose, which no compartment with another measurement gets. None if this boot has
/// no secret.
pub fn key(purpose: u64) -> Option<[u8; 32]> {
    // SAFETY: it is a request of this kind.
    unsafe { digest::<{ Supervisor::Key as u64 }>(purpose) }
}
