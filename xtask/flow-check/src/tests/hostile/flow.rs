// SPDX-License-Identifier: MIT OR Apache-2.0
//! R4, R7 and R11: x30, branches into templates, and cycles that say nothing.

use super::*;
use crate::tests::compare::events;
use crate::tests::interpreter::{Machine, Plan};

#[test]
fn returns_with_an_x30_that_nothing_said_are_refused() {
    // ldr x30, [sp], #16; mov x30, x1; add x30, x30, #4; ldp x29, x30, [sp], #16
    for word in [LOAD, 0xaa01_03fe, 0x9100_13de, 0xa8c1_7bfd] {
        refused(1, Reason::Link, |code| words(code, &[word, RET]));
        accepted(|code| {
            code.word(word);
            code.record(30);
            code.word(RET);
        });
        // On one way only.
        let all = refusals(&program(|code| {
            code.push(Item::Near(B_EQ, Label::Block(1, 1)));
            code.word(word);
            code.at(Label::Block(1, 1));
            code.word(RET);
        }));
        assert!(all.contains(&(BASE + 16, Reason::Link)));
    }
}

#[test]
fn a_record_before_the_load_does_not_help() {
    refused(18, Reason::Link, |code| {
        code.record(30);
        code.word(LOAD);
        code.word(RET);
    });
}

#[test]
fn branches_out_of_a_function_need_x30_in_order() {
    refused(18, Reason::Link, |code| {
        code.word(0xaa01_03fe);
        code.record(9);
        code.word(0xd61f_0120);
    });
    // A tail call: the return of the other function is what is refused.
    refused(2, Reason::Link, |code| {
        code.word(LOAD);
        code.push(Item::Far(B, Label::Function(2)));
        code.at(Label::Function(2));
        code.word(RET);
    });
}

#[test]
fn the_entry_has_no_return_address() {
    let mut code = Code::default();
    code.at(Label::Function(0));
    code.word(RET);
    assert_eq!(refusals(&code), [(BASE, Reason::Link)]);
}

#[test]
fn a_call_in_a_loop_gives_x30_back_in_order() {
    accepted(|code| {
        code.word(SAVE);
        code.push(Item::Far(BL, Label::Function(2)));
        code.word(LOAD);
        code.record(30);
        code.word(RET);
        code.at(Label::Function(2));
        code.word(RET);
    });
}

#[test]
fn a_return_behind_a_call_needs_a_record() {
    // The return leads behind the call, which is to itself.
    let again = |code: &mut Code, between: &[u32], last: Item| {
        code.push(Item::Far(BL, Label::Function(2)));
        words(code, between);
        code.push(last);
        code.at(Label::Function(2));
        code.word(RET);
    };
    let svc = 0xd400_0021;
    refused(2, Reason::Link, |code| again(code, &[svc], Item::Word(RET)));
    refused(1, Reason::Link, |code| again(code, &[], Item::Word(RET)));
    // By a tail call: the return of the other function is what is refused.
    let tail = Item::Far(B, Label::Function(2));
    refused(3, Reason::Link, |code| again(code, &[NOP], tail));
    // Behind an indirect call, and beyond a branch.
    let all = refusals(&program(|code| {
        code.record(9);
        code.word(0xd63f_0120);
        fork(code, 1);
    }));
    assert!(matches!(all[..], [(_, Reason::Link)]), "{all:x?}");
    accepted(|code| {
        again(code, &[svc], Item::Word(LOAD));
        let at = code.items.len() - 2;
        let behind = code.items.split_off(at);
        code.record(30);
        code.word(RET);
        code.items.extend(behind);
    });
}

#[test]
fn without_the_rule_a_path_goes_on_without_end_and_without_a_word() {
    let code = program(|code| {
        code.push(Item::Far(BL, Label::Function(2)));
        words(code, &[NOP, RET]);
        code.at(Label::Function(2));
        code.word(RET);
    });
    let (text, labels) = code.assemble();
    let input = || input(&text, &labels);
    assert!(Program::check(input()).is_err());
    let program = Program::without(Reason::Link, input()).expect("lawful else");
    // Two runs of different lengths, and one log.
    let logs = [100, 200].map(|fuel| {
        let plan = Plan {
            fuel,
            words: 1,
            resets: false,
            taken: 500,
        };
        let run = Machine::new(&text, 1, plan).run();
        assert_eq!(run.trace.len(), fuel);
        let again = run.trace.iter().filter(|&&it| it == BASE + 12);
        assert!(again.count() > fuel / 3);
        assert!(events(&program, &run).is_ok());
        let segment = &run.segments[0];
        (segment.0.clone(), segment.1)
    });
    assert_eq!(logs[0], logs[1]);
}

#[test]
fn branches_into_templates_are_refused() {
    for into in 1..18 {
        let all = refusals(&program(|code| {
            code.push(Item::Far(B, Label::Edge(1, 1)));
            code.record(9);
            code.word(0xd61f_0120);
            let at = code.items.len() - 18 + into;
            code.items.insert(at, Item::At(Label::Edge(1, 1)));
        }));
        let to = BASE + 8 + 4 + 4 * into as u64;
        assert_eq!(all, [(to, Reason::Inside(BASE + 8))]);
    }
    // To the shift of a region, and to a flush, by branch and by call.
    for label in [Label::Back(1, 0), Label::Flush(1, 0)] {
        for branch in [
            Item::Far(B, label),
            Item::Near(B_EQ, label),
            Item::Far(BL, label),
        ] {
            let all = refusals(&program(|code| {
                fork(code, 1);
                code.push(branch);
                code.word(RET);
            }));
            assert!(matches!(all[..], [(_, Reason::Inside(_))]), "{all:x?}");
        }
    }
}

#[test]
fn flushes_are_not_entered_from_above() {
    // A call that never returns, a condition and an ordinary instruction before the flush.
    for before in [Item::Far(BL, LEAF), Item::Near(B_EQ, LEAF), Item::Word(NOP)] {
        let all = refusals(&program(|code| {
            fork(code, 1);
            let at = code.items.len() - 20;
            code.items.insert(at, before);
        }));
        assert!(matches!(all[0], (_, Reason::Inside(_))), "{all:x?}");
    }
}

#[test]
fn flushes_and_regions_belong_to_each_other() {
    // No flush, a flush of another region, and a flush that nothing comes to.
    let all = refusals(&program(|code| {
        code.push(Item::Close(0xb7f0_001c, Label::Block(1, 1)));
        code.word(0xd37f_fb9c);
        code.at(Label::Block(1, 1));
        code.word(RET);
    }));
    assert_eq!(all, [(BASE + 8, Reason::Flush)]);
    let all = refusals(&program(|code| {
        for _ in 0..2 {
            code.push(Item::Close(0xb7f0_001c, Label::Flush(1, 0)));
            code.at(Label::Back(1, 0));
            code.word(0xd37f_fb9c);
        }
        code.word(RET);
        code.flush(1, 0);
    }));
    assert_eq!(all, [(BASE + 8, Reason::Flush)]);
    let all = refusals(&program(|code| {
        code.at(Label::Back(1, 0));
        code.word(RET);
        code.flush(1, 0);
    }));
    assert_eq!(all, [(BASE + 8 + 4, Reason::Flush)]);
    // The start of another region than the one with the flush's bits.
    let all = refusals(&program(|code| {
        code.push(Item::Close(0xb7f0_001c, Label::Flush(1, 0)));
        code.word(0xd37e_f79c);
        code.word(RET);
    }));
    assert!(!all.is_empty());
}

#[test]
fn branches_out_of_the_text_are_refused() {
    for word in [
        0x1400_1000,
        0x9400_1000,
        0x5400_8000,
        0xb400_8000,
        0x3607_8000,
    ] {
        refused(0, Reason::Outside, |code| words(code, &[word, RET]));
    }
}

#[test]
fn cycles_without_a_word_or_a_bit_are_refused() {
    let all = |code: &Code| -> Vec<_> { refusals(code).iter().map(|it| it.1).collect() };
    // Loops of one path, one at a function's entry.
    let endless = program(|code| words(code, &[NOP, 0x17ff_ffff]));
    assert_eq!(all(&endless), [Reason::Silent]);
    let within = program(|code| words(code, &[NOP, NOP, 0x17ff_ffff]));
    assert_eq!(all(&within), [Reason::Silent, Reason::CycleInRegion]);
    let condition = program(|code| words(code, &[NOP, NOP, 0x54ff_ffe0, RET]));
    assert_eq!(all(&condition), [Reason::Silent, Reason::CycleInRegion]);
    // Calls of itself, alone and by a detour.
    let recursion = program(|code| code.push(Item::Far(BL, LEAF)));
    assert_eq!(all(&recursion), [Reason::Silent]);
    let detour = program(|code| {
        code.push(Item::Far(BL, Label::Function(2)));
        code.word(RET);
        code.at(Label::Function(2));
        code.push(Item::Far(B, LEAF));
    });
    assert!(all(&detour).contains(&Reason::Silent));
    // A loop over calls of a leaf, which begins a region behind the call.
    let calls = program(|code| {
        code.at(Label::Block(1, 1));
        code.push(Item::Far(BL, Label::Function(2)));
        code.push(Item::Far(B, Label::Block(1, 1)));
        code.at(Label::Function(2));
        code.word(RET);
    });
    assert_eq!(all(&calls), [Reason::Silent]);
}

#[test]
fn cycles_with_a_bit_or_at_an_end_are_accepted() {
    accepted(|code| {
        code.region(1, 1, 0);
        code.push(Item::Far(B, LEAF));
        code.flush(1, 0);
    });
    // b .
    accepted(|code| words(code, &[NOP, B]));
}

#[test]
fn a_cycle_with_a_word_alone_needs_the_start_of_a_region() {
    let all = refusals(&program(|code| {
        code.record(30);
        code.push(Item::Far(B, LEAF));
        code.items.remove(3);
        code.items.insert(3, Item::At(Label::Block(1, 0)));
        code.items.insert(3, Item::Word(NOP));
        code.items.insert(3, Item::At(LEAF));
        let last = code.items.len() - 1;
        code.items[last] = Item::Far(B, Label::Block(1, 0));
    }));
    assert_eq!(all, [(BASE + 12, Reason::CycleInRegion)]);
}
