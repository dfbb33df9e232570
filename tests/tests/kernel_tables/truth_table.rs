// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every call about kernel tables against every type of frame: as what is mapped, as the table that
//! is written, and as the table that is linked. The tables below are the contract, typed in by
//! hand.

use donjon_abi::call::Reason;
use donjon_core::checks::Configured;
use donjon_core::kernel_tables::PoolKind;
use donjon_core::pools::Pools;
use donjon_core::translation::frames::FrameType as T;
use donjon_models::space::memory::{PAGE, SmallMachine};
use donjon_models::space::small::{
    self, DATA, DEVICE, GATE, IMAGE_L1, IMAGE_L2, IMAGE_L3, INNER, KERNEL_PAGE, ORDINARY,
    OwnedStorage, POOL, READ_ONLY, ROOT, TEXT, TEXT_POOL, VECTORS,
};

const TABLE: u64 = 0b11;
const RO: u64 = 1 << 7;
const DBM: u64 = 1 << 51;
const UNCACHED: u64 = 2 << 2;
const PXN: u64 = 1 << 53;
const EL0: u64 = 1 << 6;
const NON_GLOBAL: u64 = 1 << 11;
const SPARE: u64 = POOL + small::TAKEN * PAGE;

/// An answer in one letter, so that the tables stay tables.
fn letter(answer: Result<u64, Reason>) -> char {
    match answer {
        Ok(_) => '+',
        Err(Reason::NotATable) => 'N',
        Err(Reason::BadEntry) => 'e',
        Err(Reason::BadDescriptor) => 'D',
        Err(Reason::BadTarget) => 'T',
        Err(Reason::Executable) => 'X',
        Err(Reason::LiveChange) => 'L',
        Err(Reason::NotMemory) => 'm',
        Err(Reason::BadAttributes) => 'A',
        Err(Reason::BadTable) => 'B',
        Err(Reason::BadSlot) => 'S',
        Err(Reason::InUse) => 'U',
        Err(Reason::WrongFrame) => 'F',
        Err(Reason::NotText) => 't',
        Err(other) => panic!("{other:?}"),
    }
}

/// A machine with a frame of every type.
fn everything(storage: &mut OwnedStorage) -> (SmallMachine, Pools<'_>) {
    let (mut machine, mut pools) = small::build::<Configured>(storage);
    let hw = &mut machine;
    let entry = IMAGE_L3 + 8 * 8;
    pools
        .tables
        .write(hw, entry, DATA | KERNEL_PAGE)
        .expect("ordinary");
    let seal = pools
        .tables
        .seal_begin(hw, small::IMAGE + 8 * PAGE)
        .expect("room");
    pools.tables.seal_finish(hw, seal).expect("unchanged");
    let claimed = pools.add(hw, ORDINARY + small::BLOCK, PoolKind::Tables, None);
    claimed.expect("ordinary");
    pools.tables.frames().set(PRIVATE, T::Private);
    (machine, pools)
}

/// A frame whose block is taken for private.
const PRIVATE: u64 = ORDINARY + small::BLOCK + 6 * PAGE;

/// A frame of each type, none for what is not RAM.
fn frame(class: Option<T>) -> u64 {
    match class {
        Some(T::Ordinary) => DATA + PAGE,
        Some(T::Inner) => INNER,
        Some(T::PoolFree) => SPARE,
        Some(T::KernelTable0) => ROOT,
        Some(T::KernelTable1) => IMAGE_L1,
        Some(T::KernelTable2) => IMAGE_L2,
        Some(T::KernelTable3) => IMAGE_L3,
        Some(T::KernelText) => TEXT,
        Some(T::KernelVectors) => VECTORS,
        Some(T::KernelReadOnly) => READ_ONLY,
        Some(T::TextPoolFree) => TEXT_POOL + PAGE,
        Some(T::ModuleText) => TEXT_POOL,
        Some(T::Claimed) => ORDINARY + small::BLOCK + 5 * PAGE,
        Some(T::Gate) => GATE,
        Some(T::TableBlock) => small::RESERVED_ROOT,
        Some(T::Private) => PRIVATE,
        None => DEVICE,
    }
}

fn classes() -> impl Iterator<Item = Option<T>> {
    T::ALL.into_iter().map(Some).chain([None])
}

/// A call that has to do with one frame.
type Column = dyn Fn(&mut SmallMachine, &mut Pools<'_>, u64) -> Result<u64, Reason>;

/// The block that a frame is in.
const fn block_of(frame: u64) -> u64 {
    frame & !(small::BLOCK - 1)
}

/// Compares a table of answers with the expected one; `answer` is asked on a fresh machine.
fn compare(expected: &[(Option<T>, &str)], columns: &[&Column]) {
    let mut wrong = Vec::new();
    let mut seen = Vec::new();
    for (class, row) in expected {
        seen.push(*class);
        let answers: String = columns
            .iter()
            .map(|column| {
                let mut storage = OwnedStorage::default();
                let (mut machine, mut pools) = everything(&mut storage);
                let frame = frame(*class);
                assert_eq!(
                    pools.tables.frames().get(frame),
                    *class,
                    "a frame of the wrong type"
                );
                letter(column(&mut machine, &mut pools, frame))
            })
            .collect();
        if answers != *row {
            wrong.push(format!("{class:?}: {answers}, not {row}"));
        }
    }
    assert_eq!(wrong, [] as [String; 0]);
    assert!(
        classes().all(|class| seen.contains(&class)),
        "a type is missing"
    );
}

#[test]
#[cfg_attr(miri, ignore = "builds hundreds of machines")]
fn every_type_as_what_is_mapped() {
    // Page: read-write, read-only, read-only with DBM, uncached and read-only, executable at EL1;
    // block: read-write, read-only.
    let expected = [
        (Some(T::Ordinary), "++++XTT"),
        (Some(T::Inner), "TTTTXTT"),
        (Some(T::PoolFree), "T+TAXTT"),
        (Some(T::KernelTable0), "T+TAXTT"),
        (Some(T::KernelTable1), "T+TAXTT"),
        (Some(T::KernelTable2), "T+TAXTT"),
        (Some(T::KernelTable3), "T+TAXTT"),
        (Some(T::KernelText), "T+TAXTT"),
        (Some(T::KernelVectors), "T+TAXTT"),
        (Some(T::KernelReadOnly), "T+TAXTT"),
        (Some(T::TextPoolFree), "T+TAXTT"),
        (Some(T::ModuleText), "T+TAXTT"),
        (Some(T::Claimed), "TTTTXTT"),
        (Some(T::Gate), "TTTTXTT"),
        (Some(T::TableBlock), "T+TAXTT"),
        (Some(T::Private), "TTTTXTT"),
        // Index 0 is no device memory.
        (None, "AAA+Xmm"),
    ];
    let leaf = |base: u64| {
        move |machine: &mut SmallMachine, pools: &mut Pools<'_>, target: u64| {
            pools
                .tables
                .write(machine, IMAGE_L3 + 20 * 8, target | base)
        }
    };
    let block = |base: u64| {
        move |machine: &mut SmallMachine, pools: &mut Pools<'_>, target: u64| {
            let start = target & !(small::BLOCK - 1);
            pools
                .tables
                .write(machine, IMAGE_L2 + 20 * 8, start | base & !0b10)
        }
    };
    let kernel = KERNEL_PAGE;
    compare(
        &expected,
        &[
            &leaf(kernel),
            &leaf(kernel | RO),
            &leaf(kernel | RO | DBM),
            &leaf(kernel | RO | UNCACHED),
            &leaf((kernel | RO) & !PXN),
            &block(kernel),
            &block(kernel | RO),
        ],
    );
}

#[test]
#[cfg_attr(miri, ignore = "builds hundreds of machines")]
fn every_type_as_the_table_that_is_written() {
    // An empty entry: 0, a user's page, a page, a block, a free table, a table that is linked
    // already. Then entry 0, which may be live: cleared, replaced by a free table.
    let expected = [
        (Some(T::Ordinary), "NNNNNNNN"),
        (Some(T::Inner), "NNNNNNNN"),
        (Some(T::PoolFree), "NNNNNNNN"),
        (Some(T::KernelTable0), "+DDD+BSS"),
        (Some(T::KernelTable1), "+DDD+B+L"),
        (Some(T::KernelTable2), "+DD++B+L"),
        // A table descriptor of level 3 is a page that EL1 can execute.
        (Some(T::KernelTable3), "+D+DXX+X"),
        (Some(T::KernelText), "NNNNNNNN"),
        (Some(T::KernelVectors), "NNNNNNNN"),
        (Some(T::KernelReadOnly), "NNNNNNNN"),
        (Some(T::TextPoolFree), "NNNNNNNN"),
        (Some(T::ModuleText), "NNNNNNNN"),
        (Some(T::Claimed), "NNNNNNNN"),
        (Some(T::Gate), "NNNNNNNN"),
        (Some(T::TableBlock), "NNNNNNNN"),
        (Some(T::Private), "NNNNNNNN"),
        (None, "NNNNNNNN"),
    ];
    let write = |index: u64, value: u64| {
        move |machine: &mut SmallMachine, pools: &mut Pools<'_>, table: u64| {
            pools.tables.write(machine, table + index * 8, value)
        }
    };
    compare(
        &expected,
        &[
            &write(20, 0),
            &write(20, DATA | KERNEL_PAGE | NON_GLOBAL | EL0),
            &write(20, DATA | KERNEL_PAGE),
            &write(20, ORDINARY | KERNEL_PAGE & !0b10),
            &write(20, SPARE | TABLE),
            &write(20, IMAGE_L2 | TABLE),
            &write(0, 0),
            &write(0, SPARE | TABLE),
        ],
    );
}

#[test]
#[cfg_attr(miri, ignore = "builds hundreds of machines")]
fn every_type_as_the_table_that_is_linked() {
    // Into tables of level 0, 1, 2.
    let expected = classes().map(|class| match class {
        Some(T::PoolFree) => (class, "+++"),
        _ => (class, "BBB"),
    });
    let expected: Vec<_> = expected.collect();
    let link = |parent: u64| {
        move |machine: &mut SmallMachine, pools: &mut Pools<'_>, child: u64| {
            pools.tables.write(machine, parent + 20 * 8, child | TABLE)
        }
    };
    compare(&expected, &[&link(ROOT), &link(IMAGE_L1), &link(IMAGE_L2)]);
}

#[test]
#[cfg_attr(miri, ignore = "builds hundreds of machines")]
fn every_type_in_the_other_calls() {
    // Release, add its block to a pool, remove its block.
    let expected = [
        (Some(T::Ordinary), "FFU"),
        (Some(T::Inner), "FFU"),
        (Some(T::PoolFree), "+FU"),
        (Some(T::KernelTable0), "FFU"),
        // In use: tables below, or an entry that leads to it.
        (Some(T::KernelTable1), "UFU"),
        (Some(T::KernelTable2), "UFU"),
        (Some(T::KernelTable3), "UFU"),
        (Some(T::KernelText), "FFU"),
        (Some(T::KernelVectors), "FFU"),
        (Some(T::KernelReadOnly), "FFU"),
        // One of the block's frames is module text.
        (Some(T::TextPoolFree), "FFU"),
        (Some(T::ModuleText), "FFU"),
        (Some(T::Claimed), "FFU"),
        (Some(T::Gate), "FFU"),
        (Some(T::TableBlock), "FFU"),
        (Some(T::Private), "FFU"),
        (None, "FFF"),
    ];
    compare(
        &expected,
        &[
            &|machine, pools, frame| pools.tables.release(machine, frame).map(|()| 0),
            &|machine, pools, frame| {
                // Another block is on its way; that comes first.
                let _ = pools.remove(machine, block_of(frame));
                while let Ok(donjon_core::pools::Progress::Again) =
                    pools.add(machine, ORDINARY + small::BLOCK, PoolKind::Tables, None)
                {
                }
                let added = pools.add(machine, block_of(frame), PoolKind::Tables, None);
                added.map(|_| 0)
            },
            &|machine, pools, frame| pools.remove(machine, block_of(frame)).map(|_| 0),
        ],
    );
}

#[test]
fn no_entry_is_written_at_an_odd_address_or_in_the_inner_half_of_a_root() {
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = everything(&mut storage);
    for table in [ROOT, IMAGE_L1, IMAGE_L2, IMAGE_L3] {
        for offset in 1..8 {
            let answer = pools.tables.write(&mut machine, table + offset, 0);
            assert_eq!(answer, Err(Reason::BadEntry));
        }
    }
    for entry in 256..512 {
        let answer = pools.tables.write(&mut machine, ROOT + entry * 8, 0);
        assert_eq!(answer, Err(Reason::BadEntry), "entry {entry}");
    }
    let linear = pools.tables.write(&mut machine, small::LINEAR_L1 + 8, 0);
    assert_eq!(linear, Err(Reason::NotATable));
}

#[test]
fn bits_without_a_use_are_refused_one_by_one() {
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = everything(&mut storage);
    let mut refused = |entry: u64, value: u64| -> Vec<u32> {
        let bits = 0..64_u32;
        bits.filter(|bit| {
            pools.tables.write(&mut machine, entry, 0).expect("clear");
            pools
                .tables
                .write(&mut machine, entry, value ^ 1 << bit)
                .is_err()
        })
        .collect()
    };
    let page = ORDINARY + 7 * PAGE;
    // NS, EL0, nG, SH other than inner shareable, contiguous, PXN, UXN, GP, and what is reserved.
    // Of the address: 21 and 22 lead to the pools, 24 and up to no memory.
    let bits = [
        1, 5, 6, 8, 9, 11, 21, 22, 48, 49, 50, 52, 53, 54, 59, 60, 61, 62, 63,
    ];
    let mut expected: Vec<u32> = bits.into_iter().chain(24..48).collect();
    expected.sort_unstable();
    assert_eq!(refused(IMAGE_L3 + 8 * 30, page | KERNEL_PAGE), expected);
}
