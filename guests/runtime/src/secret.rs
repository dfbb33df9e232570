// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the inner domain makes for one compartment alone.

use core::arch::asm;

use donjon_abi::call::Supervisor;

use crate::report::bytes;

/// Random bytes. None if this machine has no source of them.
pub fn random() -> Option<[u8; 32]> {
    let found: u64;
    let (a, b, c, d);
    // SAFETY: no memory is touched, and no other register changes.
    unsafe {
        asm!(
            "svc {number}",
            number = const Supervisor::Random as u64,
            lateout("x0") found,
            lateout("x1") a, lateout("x2") b, lateout("x3") c, lateout("x4") d,
            options(nostack, preserves_flags),
        );
    }
    (found == 1).then(|| bytes([a, b, c, d]))
}

/// A key for a purpose, which no compartment with another measurement gets. None if this boot has no
/// secret.
pub fn key(purpose: u64) -> Option<[u8; 32]> {
    let found: u64;
    let (a, b, c, d);
    // SAFETY: no memory is touched, and no other register changes.
    unsafe {
        asm!(
            "svc {number}",
            number = const Supervisor::Key as u64,
            inlateout("x0") purpose => found,
            lateout("x1") a, lateout("x2") b, lateout("x3") c, lateout("x4") d,
            options(nostack, preserves_flags),
        );
    }
    (found == 1).then(|| bytes([a, b, c, d]))
}
