// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables and roots that a hand-over must refuse.

use donjon_abi::layout;
use donjon_core::handover::{Fault, HandoverError};
use donjon_core::translation::frames::FrameType;
use donjon_models::linux::*;

use crate::injected::*;

/// Tables that the hand-over refuses.
const TABLES: &[Injected] = &[
    injected(
        "I1: a kernel table with two parents",
        (VMALLOC + 2 * BLOCK, 2),
        |_| TABLE_POOL | 3,
        Fault::TwoParents,
    ),
    injected(
        "I1: an early table with two parents",
        (VMALLOC + 2 * BLOCK, 2),
        |_| (IMAGE + BSS_PAGES.start * PAGE) | 3,
        Fault::TwoParents,
    ),
    injected(
        "I1: the root below itself",
        (VMALLOC + 2 * BLOCK, 2),
        |_| root() | 3,
        Fault::TwoParents,
    ),
    injected(
        "I1: a page of the table block that is no table",
        (VMALLOC + 2 * BLOCK, 2),
        |_| block_page(11) | 3,
        Fault::TableTarget(Some(FrameType::TableBlock)),
    ),
    injected(
        "I1: a table of the inner domain",
        (VMALLOC + 2 * BLOCK, 2),
        |_| INNER | 3,
        Fault::TableTarget(Some(FrameType::Inner)),
    ),
    injected(
        "I1: a table in the pool for text",
        (VMALLOC + 2 * BLOCK, 2),
        |_| TEXT_POOL | 3,
        Fault::TableTarget(Some(FrameType::TextPoolFree)),
    ),
    injected(
        "I1: a table in no memory",
        (VMALLOC + 2 * BLOCK, 2),
        |_| FLASH | 3,
        Fault::TableTarget(None),
    ),
    injected(
        "a table descriptor with NSTable",
        (VMALLOC, 2),
        |old| old | 1 << 63,
        Fault::TableBits,
    ),
];

#[test]
fn tables() {
    for it in some(TABLES) {
        is_refused(it);
    }
}

fn root_entry(slot: usize) -> u64 {
    root() + slot as u64 * 8
}

#[test]
fn slots_of_the_root() {
    const FORBIDDEN: [usize; 12] = [1, 3, 7, 8, 15, 16, 31, 40, 104, 112, 232, 240];
    let inner_only = [layout::PHYSMAP_SLOT, layout::INNER_SLOT];
    // Miri is slow.
    let step = if cfg!(miri) { 7 } else { 1 };
    for slot in FORBIDDEN.into_iter().chain(inner_only).step_by(step) {
        let mut linux = Linux::new();
        let table = linux.new_table();
        for entry in [root_entry(slot), root_entry(256 + slot)] {
            linux.memory.set(entry, table | 3);
        }
        assert_eq!(fault(&mut linux), Fault::ForbiddenSlot, "slot {slot}");
    }
    for slot in FORBIDDEN.into_iter().step_by(step) {
        let mut linux = Linux::new();
        linux.memory.set(root_entry(256 + slot), TABLE_POOL | 3);
        assert_eq!(
            fault(&mut linux),
            Fault::ForbiddenSlot,
            "inner half of slot {slot}"
        );
    }
}

#[test]
fn halves_of_the_root_that_differ() {
    for slot in [0, 128, 200, layout::GATE_SLOT] {
        let mut linux = Linux::new();
        linux.memory.set(root_entry(256 + slot), 0);
        assert_eq!(fault(&mut linux), Fault::HalvesDiffer(0), "slot {slot}");
    }
    let mut linux = Linux::new();
    linux.memory.set(root_entry(256 + 210), TABLE_POOL | 3);
    assert_eq!(fault(&mut linux), Fault::HalvesDiffer(TABLE_POOL | 3));
}

#[test]
fn tables_of_the_gate_that_lead_elsewhere() {
    let table = |page| block_page(page);
    for (entry, value) in [
        // Another page than the inner domain's, or another entry, at each level.
        (table(layout::GATE_L3_PAGE), PLAIN | KERNEL_TEXT),
        (table(layout::GATE_L3_PAGE), GATE | KERNEL_TEXT & !READ_ONLY),
        (table(layout::GATE_L3_PAGE), 0),
        (table(layout::GATE_L3_PAGE) + 8, PLAIN | KERNEL_DATA),
        (table(layout::GATE_L2_PAGE), TABLE_POOL | 3),
        (
            table(layout::GATE_L2_PAGE) + 511 * 8,
            RAM | KERNEL_DATA & !NOT_BLOCK,
        ),
        (table(layout::GATE_L1_PAGE), TABLE_POOL | 3),
        (table(layout::GATE_L1_PAGE) + 8, TABLE_POOL | 3),
    ] {
        let mut linux = Linux::new();
        linux.memory.set(entry, value);
        assert_eq!(fault(&mut linux), Fault::Gate, "{entry:#x}");
    }
    let mut linux = Linux::new();
    for half in [0, 256] {
        linux
            .memory
            .set(root_entry(half + layout::GATE_SLOT), TABLE_POOL | 3);
    }
    assert_eq!(fault(&mut linux), Fault::Gate);
}

/// Walks with a forged geometry read them.
#[test]
fn the_other_pages_of_the_table_block_are_zero() {
    for page in [0, 4, 5, 6, 7, 9, 10, 11, 12, 14, 15] {
        for offset in [0, 8, 0x7f8, 0xff8] {
            let word = block_page(page) + offset;
            let mut linux = Linux::new();
            // Bit 0 is clear: no descriptor in any geometry, and yet it does not belong there.
            linux.memory.set(word, 2);
            let refused = linux.hand_over(None, |_, _| {});
            assert_eq!(refused.err(), Some(HandoverError::TableBlock(word)));
        }
    }
}
