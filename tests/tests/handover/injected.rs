// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes one thing in a clean machine.

use donjon_abi::call::Reason;
use donjon_core::handover::{Fault, HandoverError};
use donjon_core::translation::frames::FrameType;
use donjon_models::linux::*;

/// What is written to an address, and the fault that must be reported.
pub struct Injected {
    pub name: &'static str,
    pub va: u64,
    pub level: u32,
    pub descriptor: fn(u64) -> u64,
    pub fault: Fault,
}

/// An entry of a level 3 table in vmalloc that is free.
pub const FREE: u64 = VMALLOC + 77 * PAGE;
pub const TEXT: u64 = IMAGE + 30 * PAGE;
pub const CONSTANTS: u64 = IMAGE + 50 * PAGE;
pub const PLAIN: u64 = ORDINARY + 90 * PAGE;

pub const fn refused(reason: Reason, target: FrameType) -> Fault {
    let target = Some(target);
    Fault::Refused { reason, target }
}

pub const fn nowhere(reason: Reason) -> Fault {
    let target = None;
    Fault::Refused { reason, target }
}

pub const fn injected(
    name: &'static str,
    (va, level): (u64, u32),
    descriptor: fn(u64) -> u64,
    fault: Fault,
) -> Injected {
    Injected {
        name,
        va,
        level,
        descriptor,
        fault,
    }
}

fn inject(it: &Injected) -> Linux {
    let mut linux = Linux::new();
    let entry = linux.kernel_entry(it.va, it.level);
    let descriptor = (it.descriptor)(linux.memory.get(entry));
    linux.memory.set(entry, descriptor);
    linux
}

/// Checks that an injected violation is refused, by its name and at its place.
pub fn is_refused(it: &Injected) {
    let mut linux = inject(it);
    let error = linux.hand_over(None, |_, _| {}).expect_err(it.name);
    let HandoverError::Entry { place, fault } = error else {
        panic!("{}: {error}", it.name);
    };
    assert_eq!(fault, it.fault, "{}: {error}", it.name);
    // Where the entry stands by now: its table may have been copied.
    let entry = linux.kernel_entry(it.va, it.level);
    assert_eq!(
        (place.va, place.entry),
        (it.va, entry),
        "{}: {error}",
        it.name
    );
    assert_eq!(
        place.descriptor,
        linux.memory.get(entry),
        "{}: {error}",
        it.name
    );
}

/// Miri is slow: a few are enough for it to see each path.
pub fn some(list: &[Injected]) -> impl Iterator<Item = &Injected> {
    list.iter().step_by(if cfg!(miri) { 9 } else { 1 })
}

/// The fault of the entry for which a machine is refused.
pub fn fault(linux: &mut Linux) -> Fault {
    match linux.hand_over(None, |_, _| {}) {
        Err(HandoverError::Entry { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}

/// Why a changed machine is refused.
pub fn error(change: impl FnOnce(&mut Linux)) -> HandoverError {
    let mut linux = Linux::new();
    change(&mut linux);
    linux.hand_over(None, |_, _| {}).expect_err("refused")
}
