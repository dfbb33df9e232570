// SPDX-License-Identifier: MIT OR Apache-2.0
//! Descriptions of Linux that are false.

use donjon_abi::call::Reason;
use donjon_abi::layout;
use donjon_core::code::vectors::{VECTORS_SIZE, VECTORS_START};
use donjon_core::handover::{DescriptionError, Fault, HandoverError, Part};
use donjon_models::linux::*;

use crate::injected::*;

#[test]
fn an_instruction_that_is_not_allowed_is_named() {
    let mut linux = Linux::new();
    let vectors = IMAGE + VECTORS_PAGE * PAGE;
    for frame in [TEXT, vectors] {
        let error = linux
            .hand_over(Some(frame), |_, _| {})
            .expect_err("refused");
        assert!(
            matches!(
                error,
                HandoverError::Entry {
                    fault: Fault::Instruction {
                        offset: 8,
                        instruction: 0xd500_4000,
                        ..
                    },
                    ..
                }
            ),
            "{error}"
        );
        let text = error.to_string();
        let place = format!("VA {:#x}", IMAGE_VA + (frame - IMAGE));
        assert!(
            text.contains(&place) && text.contains("0xd5004000"),
            "{text}"
        );
    }
    // What is not executed is not looked at.
    let mut linux = Linux::new();
    assert!(linux.hand_over(Some(PLAIN), |_, _| {}).is_ok());
}

#[test]
fn text_and_constants_are_mapped_from_end_to_end() {
    let pages = |range: std::ops::Range<u64>| range.end - range.start;
    for (page, part, expected) in [
        (16, Part::Text, pages(TEXT_PAGES)),
        (47, Part::Text, pages(TEXT_PAGES)),
        (48, Part::Constants, pages(CONSTANT_PAGES)),
        (95, Part::Constants, pages(CONSTANT_PAGES)),
    ] {
        let error = error(|linux| {
            let entry = linux.kernel_entry(IMAGE_VA + page * PAGE, 3);
            linux.memory.set(entry, 0);
        });
        let found = expected - 1;
        let wanted = HandoverError::Incomplete {
            part,
            found,
            expected,
        };
        assert_eq!(error, wanted);
    }
}

#[test]
fn a_pool_is_one_block_of_the_linear_map() {
    for block in [TABLE_POOL + BLOCK, TEXT_POOL] {
        let missing = error(|linux| {
            let entry = linux.kernel_entry(linear(block), 2);
            linux.memory.set(entry, 0);
        });
        assert_eq!(missing, HandoverError::PoolNotLinear(block));
        let pages = error(|linux| {
            let entry = linux.kernel_entry(linear(block), 2);
            let table = linux.new_table();
            linux.memory.set(entry, table | 3);
            for page in 0..512 {
                let leaf = (block + page * PAGE) | KERNEL_CONSTANTS;
                linux.memory.set(table + page * 8, leaf);
            }
        });
        assert_eq!(pages, HandoverError::PoolNotLinear(block));
        let another = error(|linux| {
            let entry = linux.kernel_entry(linear(block), 2);
            let leaf = linux.memory.get(entry);
            linux.memory.set(entry, leaf - block + SECOND_BANK);
        });
        assert_eq!(another, HandoverError::PoolNotLinear(block));
        let device = error(|linux| {
            let entry = linux.kernel_entry(linear(block), 2);
            let leaf = linux.memory.get(entry);
            linux.memory.set(entry, leaf | 3 << 2);
        });
        let reason = Reason::BadAttributes;
        assert!(
            matches!(
                device,
                HandoverError::Entry {
                    fault: Fault::Refused { reason: it, .. },
                    ..
                } if it == reason
            ),
            "{device}"
        );
    }
    let none = error(|linux| {
        let table = block_page(layout::LINEAR_L1_PAGE);
        linux.memory.set(table, 0);
    });
    assert_eq!(none, HandoverError::NoLinearMap);
}

#[test]
fn a_pool_that_is_full_has_no_room_for_copies() {
    let full = error(|linux| {
        // All that is left becomes the tables of a long vmalloc mapping.
        for number in 0.. {
            let table = linux.new_table();
            if table >= TABLE_POOL_END {
                break;
            }
            let va = VMALLOC + 40 * BLOCK + number * BLOCK;
            linux.map(root(), va, 2, table | 3, Linux::new_table);
        }
    });
    assert!(matches!(full, HandoverError::PoolExhausted(_)), "{full}");
}

#[test]
fn descriptions_that_cannot_be_true() {
    let wrong = |change: fn(&mut Linux)| match error(change) {
        HandoverError::Description(error) => error,
        other => panic!("{other}"),
    };
    let range = |error| matches!(error, DescriptionError::Range { .. });
    assert!(range(wrong(|it| it.said.table_pool_start += PAGE)));
    assert!(range(wrong(|it| it.said.table_pool_end = TABLE_POOL)));
    assert!(range(wrong(|it| it.said.text_pool_end += PAGE)));
    assert!(range(wrong(|it| it.said.text_start += 4)));
    assert!(range(wrong(|it| it.said.text_end = it.said.text_start)));
    assert!(range(wrong(|it| it.said.rodata_end = u64::MAX)));
    assert!(range(wrong(|it| it.said.rodata_start -= PAGE)));
    let vectors = |error| matches!(error, DescriptionError::Vectors(_));
    assert!(vectors(wrong(|it| it.said.vectors += 0x400)));
    assert!(vectors(wrong(|it| it.said.vectors = it.said.text_end)));
    // Where the table block has no zeros for them.
    assert!(vectors(wrong(|it| {
        it.said.text_end = VECTORS_START + VECTORS_SIZE + BLOCK;
        it.said.vectors = VECTORS_START + VECTORS_SIZE;
        it.said.rodata_start = it.said.text_end;
        it.said.rodata_end = it.said.text_end + PAGE;
    })));
    let pool = |error, at| matches!(error, DescriptionError::Pool { block, .. } if block == at);
    assert!(pool(
        wrong(|it| it.said.table_pool_end = HOLE),
        TEXT_POOL + 3 * BLOCK
    ));
    assert!(pool(
        wrong(|it| {
            it.said.text_pool_start = HOLE;
            it.said.text_pool_end = HOLE + BLOCK;
        }),
        HOLE
    ));
    assert!(pool(
        wrong(|it| it.said.text_pool_start = TABLE_POOL),
        TABLE_POOL
    ));
    assert!(pool(wrong(|it| it.said.table_pool_start = IMAGE), IMAGE));
    assert!(pool(
        wrong(|it| {
            it.said.table_pool_start = 1 << 47;
            it.said.table_pool_end = (1 << 47) + BLOCK;
        }),
        1 << 47
    ));
}
