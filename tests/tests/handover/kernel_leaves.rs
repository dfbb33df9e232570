// SPDX-License-Identifier: MIT OR Apache-2.0
//! Leaves of the kernel that a hand-over must refuse.

use donjon_abi::call::Reason;
use donjon_core::handover::Fault;
use donjon_core::translation::frames::FrameType;
use donjon_models::linux::*;

use crate::injected::*;

/// Leaves that the kernel must not have.
const KERNEL_LEAVES: &[Injected] = &[
    injected(
        "I2: a table, writable",
        (FREE, 3),
        |_| DIRTY | KERNEL_DATA,
        refused(Reason::BadTarget, FrameType::PoolFree),
    ),
    injected(
        "I2: a table, read-only but for DBM",
        (FREE, 3),
        |_| TABLE_POOL | KERNEL_CONSTANTS | DBM,
        refused(Reason::BadTarget, TABLE_TYPE),
    ),
    injected(
        "I2: the root, writable",
        (FREE, 3),
        |_| root() | KERNEL_DATA,
        refused(Reason::BadTarget, FrameType::KernelTable0),
    ),
    injected(
        "I2: another block that shows the pool",
        (VMALLOC + 5 * BLOCK, 2),
        |_| TABLE_POOL | KERNEL_CONSTANTS & !NOT_BLOCK,
        Fault::Mixed,
    ),
    injected(
        "I3: the inner domain, read-only",
        (FREE, 3),
        |_| (INNER + 9 * PAGE) | KERNEL_CONSTANTS,
        refused(Reason::BadTarget, FrameType::Inner),
    ),
    injected(
        "I3: a block of the inner domain",
        (linear(INNER), 2),
        |_| INNER | KERNEL_DATA & !NOT_BLOCK,
        refused(Reason::BadTarget, FrameType::Inner),
    ),
    injected(
        "I3: the page that stays",
        (linear(STAY), 3),
        |_| STAY | KERNEL_CONSTANTS,
        refused(Reason::BadTarget, FrameType::Inner),
    ),
    injected(
        "I3: the gate as data",
        (FREE, 3),
        |_| GATE | KERNEL_CONSTANTS,
        refused(Reason::BadTarget, FrameType::Gate),
    ),
    injected(
        "I4: writable and executable",
        (IMAGE_VA + 30 * PAGE, 3),
        |old| old & !READ_ONLY,
        Fault::WritableExecutable,
    ),
    injected(
        "I4: executable and writable through DBM",
        (IMAGE_VA + 30 * PAGE, 3),
        |old| old | DBM,
        Fault::WritableExecutable,
    ),
    injected(
        "I4: executable outside of the text",
        (FREE, 3),
        |_| PLAIN | KERNEL_TEXT,
        Fault::ExecutableElsewhere,
    ),
    injected(
        "I4: the linear map, executable",
        (linear(RAM), 2),
        |old| old & !PXN,
        Fault::ExecutableElsewhere,
    ),
    injected(
        "I4: text, writable at another address",
        (linear(TEXT), 3),
        |_| TEXT | KERNEL_DATA,
        refused(Reason::BadTarget, FrameType::KernelText),
    ),
    injected(
        "I4: constants, writable in the linear map",
        (linear(CONSTANTS), 3),
        |_| CONSTANTS | KERNEL_DATA,
        refused(Reason::BadTarget, FrameType::KernelReadOnly),
    ),
    injected(
        "I9: a kernel leaf that is not global",
        (VMALLOC, 3),
        |old| old | NON_GLOBAL,
        refused(Reason::BadDescriptor, FrameType::Ordinary),
    ),
    injected(
        "a kernel page that EL0 may access",
        (VMALLOC, 3),
        |old| old | EL0,
        refused(Reason::BadDescriptor, FrameType::Ordinary),
    ),
    injected(
        "a kernel page that EL0 may execute",
        (VMALLOC, 3),
        |old| old & !UXN,
        refused(Reason::BadDescriptor, FrameType::Ordinary),
    ),
    injected(
        "I10: a contiguous entry",
        (VMALLOC, 3),
        |old| old | CONT,
        Fault::Contiguous,
    ),
    injected(
        "I10: a contiguous entry in the linear map",
        (linear(IMAGE + 200 * PAGE), 3),
        |old| old | CONT,
        Fault::Contiguous,
    ),
    injected(
        "I10: a block over text and data",
        (VMALLOC + 5 * BLOCK, 2),
        |_| IMAGE | KERNEL_CONSTANTS & !NOT_BLOCK,
        Fault::Mixed,
    ),
    injected(
        "I15: a block between the banks",
        (VMALLOC + 5 * BLOCK, 2),
        |_| HOLE | (DEVICE | PXN | UXN) & !NOT_BLOCK,
        nowhere(Reason::NotMemory),
    ),
    injected(
        "I15: a page between the banks that is no device",
        (FREE, 3),
        |_| (BETWEEN + PAGE) | DEVICE | PXN | UXN,
        nowhere(Reason::NotMemory),
    ),
    injected(
        "a device between the banks as memory",
        (FREE, 3),
        |_| BETWEEN | KERNEL_DATA,
        nowhere(Reason::BadAttributes),
    ),
    injected(
        "I10: text, not cached",
        (linear(TEXT), 3),
        |old| old | 2 << 2,
        refused(Reason::BadAttributes, FrameType::KernelText),
    ),
    injected(
        "I10: executable text, not cached",
        (IMAGE_VA + 30 * PAGE, 3),
        |old| old | 2 << 2,
        Fault::TextAttributes,
    ),
    injected(
        "text that EL0 may access",
        (IMAGE_VA + 30 * PAGE, 3),
        |old| old | EL0,
        Fault::TextAttributes,
    ),
    injected(
        "I13: a second executable address of text",
        (IMAGE_VA + 30 * PAGE, 3),
        |old| old - PAGE,
        Fault::SecondRole {
            frame: TEXT - PAGE,
            found: Some(FrameType::KernelText),
        },
    ),
    injected(
        "I13: a second executable address of the vectors",
        (IMAGE_VA + 30 * PAGE, 3),
        |old| old - 10 * PAGE,
        Fault::SecondRole {
            frame: IMAGE + VECTORS_PAGE * PAGE,
            found: Some(FrameType::KernelVectors),
        },
    ),
    injected(
        "I13: a second executable address of the gate",
        (IMAGE_VA + 30 * PAGE, 3),
        |_| GATE | KERNEL_TEXT,
        Fault::SecondRole {
            frame: GATE,
            found: Some(FrameType::Gate),
        },
    ),
    injected(
        "text that is a table",
        (IMAGE_VA + 30 * PAGE, 3),
        |_| DIRTY | KERNEL_TEXT,
        Fault::SecondRole {
            frame: DIRTY,
            found: Some(FrameType::PoolFree),
        },
    ),
    injected(
        "I24: text that devices write",
        (IMAGE_VA + 30 * PAGE, 3),
        |_| PLAIN | KERNEL_TEXT,
        Fault::WrittenByDevices { frame: PLAIN },
    ),
    injected(
        "I24: vectors that devices write",
        (IMAGE_VA + VECTORS_PAGE * PAGE, 3),
        |_| PLAIN | KERNEL_TEXT,
        Fault::WrittenByDevices { frame: PLAIN },
    ),
    injected(
        "I24: constants that devices write",
        (IMAGE_VA + 50 * PAGE, 3),
        |_| PLAIN | KERNEL_CONSTANTS,
        Fault::WrittenByDevices { frame: PLAIN },
    ),
    injected(
        "text that is no memory",
        (IMAGE_VA + 30 * PAGE, 3),
        |_| UART | KERNEL_TEXT,
        Fault::SecondRole {
            frame: UART,
            found: None,
        },
    ),
    injected(
        "I15: a device that is not on the list",
        (FREE, 3),
        |_| WITHHELD | DEVICE | PXN | UXN,
        nowhere(Reason::NotMemory),
    ),
    injected(
        "I15: a block of devices that are not all on the list",
        (VMALLOC + 5 * BLOCK, 2),
        |_| UART & !(BLOCK - 1) | (DEVICE | PXN | UXN) & !NOT_BLOCK,
        nowhere(Reason::NotMemory),
    ),
    injected(
        "a device as memory",
        (FREE, 3),
        |_| UART | KERNEL_DATA,
        nowhere(Reason::BadAttributes),
    ),
    injected(
        "a physical address of more than 40 bits",
        (FREE, 3),
        |_| 1 << 41 | PLAIN | KERNEL_DATA,
        nowhere(Reason::BadDescriptor),
    ),
    injected(
        "NS",
        (FREE, 3),
        |_| 1 << 5 | PLAIN | KERNEL_DATA,
        refused(Reason::BadDescriptor, FrameType::Ordinary),
    ),
    injected(
        "a linear map with a page in the wrong place",
        (linear(IMAGE + 200 * PAGE), 3),
        |old| old + PAGE,
        Fault::NotLinear,
    ),
    injected(
        "a reserved descriptor at level 3",
        (FREE, 3),
        |_| PLAIN | KERNEL_DATA & !NOT_BLOCK,
        Fault::Reserved,
    ),
    injected(
        "a level 1 block in the linear map",
        (LINEAR + (1 << 30), 1),
        |_| (RAM + (1 << 30)) | KERNEL_DATA & !NOT_BLOCK,
        Fault::Level1Block,
    ),
];

/// Type of the pool's first table.
const TABLE_TYPE: FrameType = FrameType::KernelTable2;

#[test]
fn leaves_of_the_kernel() {
    for it in some(KERNEL_LEAVES) {
        is_refused(it);
    }
}

#[test]
fn what_is_planted_does_no_harm_where_it_is_allowed() {
    // Controls: the same entry with what it may have.
    for leaf in [
        PLAIN | KERNEL_DATA,
        TEXT | KERNEL_CONSTANTS,
        DIRTY | KERNEL_CONSTANTS,
        UART | DEVICE | PXN | UXN,
        PLAIN | KERNEL_DATA | 2 << 2,
    ] {
        let mut linux = Linux::new();
        let entry = linux.kernel_entry(FREE, 3);
        linux.memory.set(entry, leaf);
        linux.hand_over(None, |_, _| {}).expect("allowed");
        assert_eq!(naive::violations(&linux.memory), [""; 0]);
    }
}

/// Whatever Linux's tables of users say, no walk reads them again.
#[test]
fn tables_of_users_are_ordinary_memory() {
    let mut linux = Linux::new();
    let tables = ORDINARY + 100 * PAGE;
    linux.memory.set(tables, (tables + PAGE) | 3);
    linux.memory.set(tables + PAGE, INNER | DEVICE | EL0);
    linux
        .hand_over(None, |pools, _| {
            for table in [tables, tables + PAGE] {
                assert_eq!(pools.tables.frames().get(table), Some(FrameType::Ordinary));
            }
        })
        .expect("clean");
}

#[test]
fn sixteen_alike_are_no_better_than_one() {
    let mut linux = Linux::new();
    for page in 112..128 {
        let entry = linux.kernel_entry(IMAGE_VA + page * PAGE, 3);
        linux
            .memory
            .set(entry, (IMAGE + page * PAGE) | KERNEL_DATA | CONT);
    }
    assert_eq!(fault(&mut linux), Fault::Contiguous);
}

#[test]
fn an_executable_block_is_text_to_its_end() {
    let text = IMAGE_VA + 5 * BLOCK;
    for (end, expected) in [
        (text + BLOCK, None),
        (text + BLOCK - PAGE, Some(Fault::ExecutableElsewhere)),
    ] {
        let mut linux = Linux::new();
        for page in TEXT_PAGES {
            let entry = linux.kernel_entry(IMAGE_VA + page * PAGE, 3);
            linux.memory.set(entry, 0);
        }
        let entry = linux.kernel_entry(text, 2);
        linux
            .memory
            .set(entry, (SECOND_BANK | KERNEL_TEXT) & !NOT_BLOCK);
        // The linear map shows it as a block as well, read-only.
        let alias = linux.kernel_entry(linear(SECOND_BANK), 2);
        let leaf = linux.memory.get(alias);
        linux.memory.set(alias, leaf & !DBM | READ_ONLY);
        linux.said.text_start = text;
        linux.said.text_end = end;
        linux.said.vectors = text;
        match expected {
            Some(expected) => assert_eq!(fault(&mut linux), expected),
            None => {
                let summary = linux.hand_over(None, |_, _| {}).expect("text");
                assert_eq!(summary.text_pages, 512);
            }
        }
    }
}
