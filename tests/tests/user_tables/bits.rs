// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each bit of a descriptor that Linux has for a user's page. The lists are the contract, typed in
//! by hand.

use std::sync::atomic::Ordering;

use donjon_abi::call::{MAP_MAX, Process, Reason};
use donjon_core::user_tables::{Fill, LEAST_PAGES};
use donjon_models::user_tables::storage::OwnedStorage;
use donjon_models::user_tables::{BLOCK, PAGE};

use super::threads::{ARENA, Cpu, Memory, RAM, RAM_PAGES, USER};

const WHO: Process = Process::new(5, 5);

/// Bits that, changed alone, have the descriptor refused, when `count` are mapped at a time where
/// nothing was mapped before.
fn refused(count: u64) -> Vec<u32> {
    let memory = Memory::new();
    let storage = OwnedStorage::new(RAM_PAGES);
    let frames = storage.frames(RAM);
    let user_tables = storage.user_tables(ARENA, 0x1000);
    let hw = &mut Cpu(&memory);
    let page = RAM + BLOCK;
    user_tables.switch(hw, 0, WHO).expect("a tree");
    let mut place = 0;
    let mut is_refused = |bit: Option<u32>| {
        place += 16;
        let fill = Fill {
            va: place * PAGE,
            source: RAM + place * 8,
            count,
        };
        for number in 0..count {
            let changed = bit.filter(|_| number == count / 2).map_or(0, |it| 1 << it);
            let word = memory.word(fill.source + number * 8);
            word.store((USER | page) ^ changed, Ordering::Relaxed);
        }
        let answer = user_tables.map(hw, &frames, WHO, fill).expect("room");
        if let Some((place, _)) = answer {
            assert_eq!(place, count / 2, "the one that was changed");
        }
        answer.is_some()
    };
    assert!(!is_refused(None), "what is common is mapped");
    (0..64).filter(|bit| is_refused(Some(*bit))).collect()
}

#[test]
fn bits_without_a_use_are_refused_one_by_one() {
    // A block at level 3, NS, SH other than inner shareable, nG, the reserved bits, PXN, and what
    // hardware and Linux give no meaning. Of the address: 22 and up lead to no memory.
    let bits = [1, 5, 8, 9, 11, 48, 49, 53, 59, 60, 61, 62, 63];
    let mut expected: Vec<u32> = bits.into_iter().chain(22..48).collect();
    expected.sort_unstable();
    for count in [1, 2, 3, 8, 16] {
        assert_eq!(refused(count), expected, "{count} at a time");
    }
}

#[test]
fn what_is_invalid_is_not_taken_over() {
    let memory = Memory::new();
    let storage = OwnedStorage::new(RAM_PAGES);
    let frames = storage.frames(RAM);
    let user_tables = storage.user_tables(ARENA, 0x1000);
    let hw = &mut Cpu(&memory);
    let common = USER | (RAM + BLOCK);
    let swapped_out = RAM + BLOCK;
    user_tables.switch(hw, 0, WHO).expect("a tree");
    let pairs = [[swapped_out, common], [common, swapped_out]];
    for (place, words) in (0..).step_by(2).zip(pairs) {
        for (number, word) in (0..).zip(words) {
            let address = RAM + (place + number) * 8;
            memory.word(address).store(word, Ordering::Relaxed);
        }
        let fill = Fill {
            va: place * PAGE,
            source: RAM + place * 8,
            count: 2,
        };
        assert_eq!(user_tables.map(hw, &frames, WHO, fill), Ok(None));
    }
    let words = (ARENA..ARENA + LEAST_PAGES * PAGE).step_by(8);
    let words = words.map(|at| memory.word(at).load(Ordering::Relaxed));
    let words: Vec<u64> = words.filter(|word| *word != 0).collect();
    assert!(words.iter().all(|word| word & 1 == 1), "{words:#x?}");
    // Three tables lead to the two pages.
    assert_eq!(words.len(), 3 + 2);
}

#[test]
fn what_cannot_be_descriptors_is_refused_and_does_not_overflow() {
    let memory = Memory::new();
    let storage = OwnedStorage::new(RAM_PAGES);
    let frames = storage.frames(RAM);
    let user_tables = storage.user_tables(ARENA, 0x1000);
    let hw = &mut Cpu(&memory);
    user_tables.switch(hw, 0, WHO).expect("a tree");
    let last = 511;
    for (va, source, count) in [
        (last * PAGE, RAM + last * 8, 0),
        (last * PAGE, RAM + last * 8, 2),
        (last * PAGE, RAM + last * 8, u64::MAX),
        (last * PAGE, RAM + last * 8, u64::MAX - last + 1),
        (0, RAM, MAP_MAX as u64 + 1),
        (1, RAM, 1),
        (0, RAM + 8, 1),
        (0, RAM + 4, 1),
        (1 << 48, RAM, 1),
        (u64::MAX - PAGE + 1, u64::MAX - 7, 1),
    ] {
        let fill = Fill { va, source, count };
        let answer = user_tables.map(hw, &frames, WHO, fill);
        assert_eq!(answer, Err(Reason::BadEntry), "{fill:x?}");
    }
    for (va, source) in [(1 << 48, RAM), (BLOCK / 2, RAM), (BLOCK, RAM), (0, RAM + 4)] {
        let answer = user_tables.map_block(hw, &frames, WHO, va, source);
        assert_eq!(answer, Err(Reason::BadEntry), "{va:#x} {source:#x}");
    }
}
