// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hand-over of a clean machine, and the state after it.

use donjon_abi::call::Reason;
use donjon_abi::layout;
use donjon_core::translation::Step;
use donjon_core::translation::frames::FrameType;
use donjon_models::linux::*;

#[test]
fn a_clean_machine_is_taken_over_and_keeps_the_invariants() {
    let mut linux = Linux::new();
    let mut before = naive::translations(&linux.memory);
    let summary = linux.hand_over(None, |_, _| {}).expect("clean");
    assert_eq!(naive::violations(&linux.memory), [""; 0]);
    assert_eq!(summary.copied, 6, "image and fixmap");
    assert_eq!(summary.linear_start, RAM);
    assert_eq!(summary.text_pages, 32);
    assert_eq!(summary.constant_pages, 48);

    // Nothing is translated otherwise than before, but that pools are read-only.
    for block in [TABLE_POOL, TABLE_POOL + BLOCK, TEXT_POOL] {
        if let Some(leaf) = before.get_mut(&linear(block)) {
            leaf.bits = leaf.bits & !DBM | READ_ONLY;
        }
    }
    assert_eq!(before, naive::translations(&linux.memory));
}

#[test]
fn the_naive_look_sees_what_is_wrong_before_the_hand_over() {
    let linux = Linux::new();
    let found = naive::violations(&linux.memory).join("\n");
    for invariant in ["I1: ", "I2: ", "pool: "] {
        assert!(found.contains(invariant), "{invariant} in {found}");
    }
}

#[test]
fn translations_stay_at_every_step() {
    let mut linux = Linux::new();
    linux.memory.watched = true;
    linux.hand_over(None, |_, _| {}).expect("clean");
}

#[test]
fn everything_is_invalidated_after_the_last_change() {
    let mut linux = Linux::new();
    linux.hand_over(None, |_, _| {}).expect("clean");
    let steps = &linux.memory.steps;
    let last = |wanted: fn(&Step) -> bool| steps.iter().rposition(wanted).expect("such a step");
    let change = last(|step| matches!(step, Step::Write { .. } | Step::ZeroFrame(_)));
    let visible = last(|step| *step == Step::BarrierStore);
    let invalidation = last(|step| *step == Step::InvalidateAll);
    let complete = last(|step| *step == Step::Barrier);
    assert!(change < visible && visible < invalidation && invalidation < complete);
    // A table walk that does not look into the caches finds zeros in free frames.
    let zeroed = Step::ZeroFrame(DIRTY);
    let position = steps.iter().position(|step| *step == zeroed);
    let position = position.expect("it was not zero");
    assert!(steps[position..].contains(&Step::CleanFrame(DIRTY)));
}

#[test]
fn every_table_in_use_is_cleaned_to_memory_after_its_last_write() {
    let mut linux = Linux::new();
    linux.hand_over(None, |_, _| {}).expect("clean");
    let steps = &linux.memory.steps;
    let cleaned = |frame: u64| steps.iter().rposition(|it| *it == Step::CleanFrame(frame));
    let mut written = 0;
    for (position, step) in steps.iter().enumerate() {
        if let Step::Write { entry, .. } = *step {
            let frame = entry & !(layout::PAGE_SIZE - 1);
            assert!(
                cleaned(frame) > Some(position),
                "{step:x?} stays in the cache"
            );
            written += 1;
        }
    }
    assert!(written > 0);
    assert!(cleaned(root()).is_some());
}

#[test]
fn a_copy_is_whole_before_anything_leads_to_it() {
    let mut linux = Linux::new();
    let early = linux.memory.get(linux.kernel_entry(IMAGE_VA, 2)) & !3;
    linux.hand_over(None, |_, _| {}).expect("clean");
    let entry = linux.kernel_entry(IMAGE_VA, 2);
    let copy = linux.memory.get(entry) & !3;
    assert_ne!(copy, early);
    assert!(copy >= TABLE_POOL_END - 6 * PAGE, "the end of the pool");
    let steps = &linux.memory.steps;
    let linked = steps.iter().position(|step| {
        *step
            == Step::Write {
                entry,
                value: copy | 3,
            }
    });
    let linked = linked.expect("it is linked");
    let write_to_copy =
        |step: &Step| matches!(step, Step::Write { entry, .. } if entry & !(PAGE - 1) == copy);
    assert_eq!(
        steps[..linked]
            .iter()
            .filter(|it| write_to_copy(it))
            .count(),
        512
    );
    assert_eq!(
        steps[linked..]
            .iter()
            .filter(|it| write_to_copy(it))
            .count(),
        0
    );
    assert_eq!(steps[linked - 1], Step::BarrierStore);
}

#[test]
fn frames_have_the_types_of_what_they_are() {
    let mut linux = Linux::new();
    let early = linux.memory.get(linux.kernel_entry(FIXMAP, 2)) & !3;
    linux
        .hand_over(None, |pools, memory| {
            let frames = pools.tables.frames();
            let linear_table = block_page(layout::LINEAR_L1_PAGE);
            for (frame, class) in [
                (RAM, FrameType::Ordinary),
                (IMAGE, FrameType::Ordinary),
                (IMAGE + TEXT_PAGES.start * PAGE, FrameType::KernelText),
                (IMAGE + VECTORS_PAGE * PAGE, FrameType::KernelVectors),
                (IMAGE + 47 * PAGE, FrameType::KernelText),
                (
                    IMAGE + CONSTANT_PAGES.start * PAGE,
                    FrameType::KernelReadOnly,
                ),
                (block_page(layout::GATE_L1_PAGE), FrameType::TableBlock),
                (block_page(0), FrameType::TableBlock),
                (root(), FrameType::KernelTable0),
                (linear_table, FrameType::KernelTable1),
                (IMAGE + 100 * PAGE, FrameType::Ordinary),
                (early, FrameType::Ordinary),
                (STAY, FrameType::Inner),
                (DIRTY, FrameType::PoolFree),
                (TEXT_POOL, FrameType::TextPoolFree),
                (GATE, FrameType::Gate),
                (INNER, FrameType::Inner),
                (SECOND_BANK, FrameType::Ordinary),
            ] {
                assert_eq!(frames.get(frame), Some(class), "{frame:#x}");
            }
            assert_eq!(frames.get(RAM - PAGE), None);
            assert_eq!(frames.get(HOLE), None);
            for table in naive::tree(memory).tables {
                let expected = FrameType::KernelTable0 as u8 + table.level as u8;
                let is_gate = (block_page(1)..block_page(4)).contains(&table.frame);
                let found = frames.get(table.frame).map(|it| it as u8);
                assert!(is_gate || found == Some(expected), "{table:x?}");
            }
        })
        .expect("clean");
}

#[test]
fn the_rules_go_on_from_there() {
    let mut linux = Linux::new();
    let early = linux.memory.get(linux.kernel_entry(FIXMAP, 2)) & !3;
    let above = linux.kernel_entry(VMALLOC, 2);
    let table = linux.kernel_entry(VMALLOC, 3) & !(PAGE - 1);
    linux
        .hand_over(None, |pools, memory| {
            let page = (ORDINARY + 50 * PAGE) | KERNEL_DATA;
            let copied = memory.get(naive_entry(memory, FIXMAP, 2)) & !3;
            assert_eq!(pools.tables.write(memory, copied + 8, page), Ok(0));
            assert_eq!(
                pools.tables.write(memory, early + 8, page),
                Err(Reason::NotATable),
                "the original is a table no more"
            );
            assert_eq!(
                pools
                    .tables
                    .write(memory, copied + 16, copied | KERNEL_DATA),
                Err(Reason::BadTarget),
                "no table is writable"
            );
            // The parents are known: a table in use stays, one that was unlinked goes.
            assert_eq!(pools.tables.release(memory, table), Err(Reason::InUse));
            assert_eq!(pools.tables.write(memory, above, 0), Ok(table | 3));
            assert_eq!(pools.tables.release(memory, table), Ok(()));
            assert_eq!(pools.tables.frames().get(table), Some(FrameType::PoolFree));
        })
        .expect("clean");
}

fn naive_entry(memory: &Memory, va: u64, level: u32) -> u64 {
    let mut table = root();
    for above in 0..level {
        table = memory.get(table + index(va, above) * 8) & 0xffff_ffff_f000;
    }
    table + index(va, level) * 8
}

#[test]
fn pools_that_are_read_only_already_stay_so() {
    let mut linux = Linux::new();
    for block in [TABLE_POOL, TABLE_POOL + BLOCK, TEXT_POOL] {
        let entry = linux.kernel_entry(linear(block), 2);
        let leaf = (block | KERNEL_CONSTANTS) & !NOT_BLOCK;
        linux.memory.set(entry, leaf);
    }
    linux.hand_over(None, |_, _| {}).expect("clean");
    assert_eq!(naive::violations(&linux.memory), [""; 0]);
}

#[test]
fn a_kernel_without_modules_has_no_pool_for_text() {
    let mut linux = Linux::new();
    linux.said.text_pool_end = linux.said.text_pool_start;
    linux
        .hand_over(None, |pools, _| {
            assert_eq!(
                pools.tables.frames().get(TEXT_POOL),
                Some(FrameType::Ordinary)
            );
        })
        .expect("clean");
}
