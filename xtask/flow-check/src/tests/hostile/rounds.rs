// SPDX-License-Identifier: MIT OR Apache-2.0
//! R8: counted loops in which two numbers of rounds leave one count.

use std::collections::HashMap;

use super::*;
use crate::tests::compare::events;
use crate::tests::interpreter::{Machine, Plan};

const ADD: u32 = 0x1100_0421;
const ADD_WIDE: u32 = 0x9100_0421;
const CBNZ_W1: u32 = 0x3500_0001;
const CBNZ_W2: u32 = 0x3500_0002;
/// `cmp w1, w3`.
const CMP: u32 = 0x6b03_003f;
/// `cmp x1, x3`.
const CMP_WIDE: u32 = 0xeb03_003f;

/// Writes a loop over w1 that counts up, or over x1.
fn counted(code: &mut Code, wide: bool, body: &[u32], branch: u32) {
    code.word(if wide { 0xd241_003a } else { 0x2a01_03fa });
    code.at(Label::Loop(1, 0));
    words(code, body);
    code.push(Item::Near(branch, Label::Loop(1, 0)));
    if wide {
        code.word(0xcb1a_003a);
    } else {
        words(code, &[0x4b1a_003a, 0xb241_035a]);
    }
    code.record(26);
    code.word(RET);
}

/// Makes the step of 64 bits that adds a constant.
fn wide(step: u32) -> u32 {
    0x9100_0021 | step << 10
}

#[test]
fn loops_that_test_what_they_count_are_accepted() {
    let bodies: &[(&[u32], u32)] = &[
        // The flags of the step; a comparison before the step and behind it.
        (&[0x3100_0421], B_NE),
        (&[CMP, ADD], B_NE),
        (&[ADD, CMP], B_NE),
        (&[ADD, 0x7101_903f], B_NE),
        (&[ADD], CBNZ_W1),
        // tbz w1, #3
        (&[ADD], 0x3618_0001),
        // sub w4, w1, #2; ands w5, w4, w6; and between, what writes no flags.
        (
            &[ADD, 0x5100_0824, 0x6a06_0085, 0xb940_0042, 0x9e67_0040],
            B_NE,
        ),
        // cset w4, hi of a comparison with w1; cbnz w4
        (&[ADD, CMP, 0x1a9f_97e4], 0x3500_0004),
        // All of x1, behind the step.
        (&[ADD, CMP_WIDE], B_NE),
    ];
    for (body, branch) in bodies {
        accepted(|code| counted(code, false, body, *branch));
    }
    for step in [1, 63, 64, 2048] {
        accepted(|code| counted(code, true, &[wide(step), CMP_WIDE], B_NE));
    }
    // 2^59 rounds until x1 is as it was.
    accepted(|code| counted(code, true, &[0xb940_0022, wide(32)], CBNZ_W2));
}

#[test]
fn loops_that_end_by_something_else_are_refused_if_their_count_may_lead_around() {
    let bodies: &[(&[u32], u32)] = &[
        // No flags; a load, of data and into what is compared.
        (&[ADD], B_NE),
        (&[0xb940_0062, ADD], CBNZ_W2),
        (&[ADD, 0xb940_0083, CMP], B_NE),
        // Another register that moves, and one that was computed in the round before.
        (&[ADD, 0x7100_0442], B_NE),
        (&[ADD, 0x1100_0463, CMP], B_NE),
        (&[0x6b04_003f, ADD, 0x1100_0424], B_NE),
        // Flags that something else writes behind the comparison: fcmp, ccmp behind fcmp.
        (&[ADD, CMP, 0x1e62_2020], B_NE),
        (&[ADD, 0x1e62_2020, 0x7a43_0020], B_NE),
        // A selection by the flags of fcmp; cbnz w4
        (&[ADD, 0x1e62_2020, 0x1a9f_97e4], 0x3500_0004),
        // All of x1 before the step: its upper half is cleared by it.
        (&[CMP_WIDE, ADD], B_NE),
        (&[0x9100_0424, ADD], 0xb500_0004),
        // The stack pointer: cmp sp, #16; cmp sp, x3
        (&[ADD, 0xf100_43ff], B_NE),
        (&[ADD, 0xeb23_63ff], B_NE),
        // A vector's element: fmov w2, s0
        (&[ADD, 0x1e26_0002], CBNZ_W2),
    ];
    for (body, branch) in bodies {
        refused(0, Reason::Rounds, |code| {
            counted(code, false, body, *branch)
        });
    }
    for step in [64, 128, 192, 2048] {
        let body = [0xb940_0022, wide(step)];
        refused(0, Reason::Rounds, |code| {
            counted(code, true, &body, CBNZ_W2)
        });
    }
    // 4,096 in the other form of the immediate, and by the base of a load of pairs.
    refused(0, Reason::Rounds, |code| {
        counted(code, true, &[0xb940_0022, 0x9140_0421], CBNZ_W2)
    });
    refused(0, Reason::Rounds, |code| {
        counted(code, true, &[0xacc2_0420], B_NE)
    });
}

/// Looks for two runs of one text with equal logs and different rounds, which are returned.
fn two_runs(text: &[u32], program: &Program) -> Option<[usize; 2]> {
    let mut seen = HashMap::new();
    for seed in 0..300 {
        let plan = Plan {
            fuel: 20_000,
            words: 1,
            resets: false,
            taken: 998,
        };
        let run = Machine::new(text, seed, plan).run();
        let step = BASE + 12;
        let rounds = run.trace.iter().filter(|&&it| it == step).count();
        let said = events(program, &run).expect("a path");
        let log: Vec<_> = run
            .segments
            .iter()
            .map(|it| (it.0.clone(), it.1.pc))
            .collect();
        let Some((other, before)) = seen.insert(log, (rounds, said.clone())) else {
            continue;
        };
        if other != rounds {
            assert_eq!(before, said);
            return Some([other, rounds]);
        }
    }
    None
}

#[test]
fn without_the_rule_two_paths_have_one_log() {
    // add w1, w1, #0x800, lsl #12: 512 rounds, and w1 is as it was.
    let code = program(|code| counted(code, false, &[0x1160_0021], B_NE));
    assert_eq!(refusals(&code), [(BASE + 8, Reason::Rounds)]);
    let (text, labels) = code.assemble();
    let program = Program::without(Reason::Rounds, input(&text, &labels)).expect("lawful else");
    let rounds = two_runs(&text, &program).expect("the control finds two paths");
    assert_eq!(rounds[0].abs_diff(rounds[1]) % 512, 0);
    // Counts of all 64 bits tell them apart.
    let code = super::program(|code| counted(code, true, &[ADD_WIDE], B_NE));
    let (text, labels) = code.assemble();
    let program = Program::check(input(&text, &labels)).expect("lawful");
    assert_eq!(two_runs(&text, &program), None);
}
