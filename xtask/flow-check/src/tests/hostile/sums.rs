// SPDX-License-Identifier: MIT OR Apache-2.0
//! R5: sums of edge numbers.

use super::*;

#[test]
fn paths_with_equal_sums_are_refused() {
    accepted(|code| fork(code, 1));
    refused(0, Reason::EqualSums, |code| fork(code, 0));
    // Without bits there is one path.
    refused(0, Reason::EqualSums, |code| {
        words(code, &[0x5400_0040, NOP, RET])
    });
}

#[test]
fn sums_beyond_the_bits_are_refused() {
    refused(0, Reason::LargeSum, |code| fork(code, 2));
    refused(0, Reason::LargeSum, |code| fork(code, 4095));
    refused(0, Reason::LargeSum, |code| {
        code.edge(1);
        code.word(RET);
    });
    refused(0, Reason::LargeSum, |code| {
        code.edge(4095);
        code.edge(1);
        code.word(RET);
    });
}

#[test]
fn paths_that_only_join_with_equal_sums_are_refused() {
    // Two forks, the second with the number of the first.
    for (second, lawful) in [(1, false), (2, true)] {
        let all = refusals(&program(|code| {
            code.region(2, 1, 0);
            for (at, number) in [(1, 1), (2, second)] {
                code.push(Item::Near(B_EQ, Label::Block(1, at)));
                code.edge(number);
                code.at(Label::Block(1, at));
            }
            code.word(RET);
            code.flush(1, 0);
        }));
        assert_eq!(all.is_empty(), lawful, "{all:x?}");
    }
}

#[test]
fn the_region_behind_a_call_is_looked_at() {
    refused(2, Reason::EqualSums, |code| {
        code.word(SAVE);
        code.push(Item::Far(BL, Label::Function(2)));
        words(code, &[0x5400_0040, NOP, LOAD]);
        code.record(30);
        code.word(RET);
        code.at(Label::Function(2));
        code.word(RET);
    });
}

#[test]
fn more_paths_than_all_bits_hold_are_refused() {
    let all = refusals(&program(|code| {
        code.region(12, 1, 0);
        for at in 1..14 {
            code.push(Item::Near(B_EQ, Label::Block(1, at)));
            code.edge(1 << (at - 1).min(11));
            code.at(Label::Block(1, at));
        }
        code.word(RET);
        code.flush(1, 0);
    }));
    assert!(
        matches!(all[..], [(_, Reason::EqualSums | Reason::LargeSum)]),
        "{all:x?}"
    );
}
