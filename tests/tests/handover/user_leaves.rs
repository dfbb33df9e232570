// SPDX-License-Identifier: MIT OR Apache-2.0
//! Leaves of users that a hand-over must refuse, and some leaves that it must not.

use donjon_abi::call::Reason;
use donjon_core::frames::FrameType;
use donjon_tests::linux::*;

use crate::planted::*;

/// Leaves that users must not have.
const USER_LEAVES: &[Planted] = &[
    planted(
        "I5: a user's page that EL1 may execute",
        (USER, USER_VA, 3),
        |old| old & !PXN,
        refused(Reason::Executable, FrameType::Ordinary),
    ),
    planted(
        "I9: a user's page that is global",
        (USER, USER_VA, 3),
        |old| old & !NON_GLOBAL,
        refused(Reason::BadDescriptor, FrameType::Ordinary),
    ),
    planted(
        "I2: a table, to read",
        (USER, USER_FREE, 3),
        |_| USER_ROOTS[0] | USER_TEXT,
        refused(Reason::BadTarget, FrameType::UserTable0),
    ),
    planted(
        "I2: a table, to write",
        (USER, USER_FREE, 3),
        |_| USER_ROOTS[0] | USER_DATA,
        refused(Reason::BadTarget, FrameType::UserTable0),
    ),
    planted(
        "I3: the inner domain",
        (USER, USER_FREE, 3),
        |_| INNER | USER_TEXT,
        refused(Reason::BadTarget, FrameType::Inner),
    ),
    planted(
        "I4: the vDSO, writable",
        (USER, USER_VA + 2 * PAGE, 3),
        |old| old & !READ_ONLY,
        refused(Reason::BadTarget, FrameType::KernelReadOnly),
    ),
    planted(
        "I10: the vDSO, not cached",
        (USER, USER_VA + 2 * PAGE, 3),
        |old| old | 2 << 2,
        refused(Reason::BadAttributes, FrameType::KernelReadOnly),
    ),
    planted(
        "I10: a contiguous group",
        (USER, USER_VA, 3),
        |old| old | CONT,
        refused(Reason::BadDescriptor, FrameType::Ordinary),
    ),
    planted(
        "I15: a device",
        (USER, USER_FREE, 3),
        |_| UART | (DEVICE | EL0 | NON_GLOBAL | PXN | UXN),
        nowhere(Reason::BadTarget),
    ),
    planted(
        "a block",
        (USER, USER_VA + BLOCK, 2),
        |_| ORDINARY | USER_DATA & !NOT_BLOCK,
        refused(Reason::BadDescriptor, FrameType::Ordinary),
    ),
];

#[test]
fn leaves_of_users() {
    for it in some(USER_LEAVES) {
        is_refused(it);
    }
}

#[test]
fn what_is_planted_does_no_harm_where_it_is_allowed() {
    // Controls: the same entries with what they may have.
    for (root, va, leaf) in [
        (root(), FREE, PLAIN | KERNEL_DATA),
        (root(), FREE, TEXT | KERNEL_CONSTANTS),
        (root(), FREE, DIRTY | KERNEL_CONSTANTS),
        (root(), FREE, UART | DEVICE | PXN | UXN),
        (root(), FREE, PLAIN | KERNEL_DATA | 2 << 2),
        (USER, USER_FREE, PLAIN | USER_DATA),
        (USER, USER_FREE, TEXT | USER_TEXT),
    ] {
        let mut linux = Linux::new();
        let entry = linux.entry(root, va, 3);
        linux.memory.set(entry, leaf);
        linux.hand_over(None, |_, _| {}).expect("allowed");
        assert_eq!(naive::violations(&linux.memory, &USER_ROOTS), [""; 0]);
    }
}
