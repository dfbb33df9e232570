// SPDX-License-Identifier: MIT OR Apache-2.0
//! R1, R2, R3, R6 and R8: what stands in templates, and where else nothing of it stands.

use super::*;

#[test]
fn reserved_registers_outside_of_templates_are_refused() {
    for register in 22..=28 {
        let reserved = Reason::Reserved(register);
        // mov x0, xR; add xR, x0, #1; str x0, [xR]; ldr x0, [x1, xR]; fmov d0, xR
        for word in [
            0xaa00_03e0 | register << 16,
            0x9100_0400 | register,
            0xf900_0000 | register << 5,
            0xf860_6820 | register << 16,
            0x9e67_0000 | register << 5,
        ] {
            refused(0, reserved, |code| words(code, &[word, RET]));
        }
    }
}

#[test]
fn parts_of_templates_alone_are_refused() {
    let mut record = Code::default();
    record.record(0);
    for item in &record.items {
        let Item::Word(word) = *item else { continue };
        let all = refusals(&program(|code| words(code, &[word, RET])));
        assert!(
            matches!(all[..], [(_, Reason::Reserved(22..=27))]),
            "{word:x}"
        );
    }
    // mov x28, #1; lsl x28, x28, #1; lsr x26, x28, #61
    for word in [0xd280_003c, 0xd37f_fb9c] {
        refused(0, Reason::Reserved(28), |code| words(code, &[word, RET]));
    }
    refused(0, Reason::Reserved(28), |code| {
        words(code, &[0xd37d_ff9a, RET])
    });
}

#[test]
fn records_that_belong_to_nothing_are_refused() {
    for register in [0, 21, 26] {
        refused(0, Reason::LoneRecord(register), |code| {
            code.record(register);
            code.word(RET);
        });
    }
}

#[test]
fn records_of_state_and_cursor_are_refused() {
    for register in 22..=25 {
        let all = refusals(&program(|code| {
            code.record(register);
            code.word(0xd61f_0000 | register << 5);
        }));
        assert!(
            all.contains(&(BASE + 8, Reason::Reserved(register))),
            "x{register}"
        );
    }
}

#[test]
fn indirect_branches_without_the_record_before_them_are_refused() {
    for branch in [0xd61f_0120, 0xd63f_0120] {
        refused(0, Reason::Unrecorded, |code| words(code, &[branch, RET]));
        // A record of another register, and an instruction between the two.
        let all = refusals(&program(|code| {
            code.record(9);
            code.word(NOP);
            code.word(branch);
            code.word(RET);
        }));
        assert!(all.contains(&(BASE + 8, Reason::LoneRecord(9))));
        assert!(all.contains(&(BASE + 8 + 18 * 4, Reason::Unrecorded)));
    }
    accepted(|code| {
        code.record(9);
        code.word(0xd61f_0120);
    });
}

#[test]
fn instructions_beyond_the_list_are_refused() {
    // ret x0; retaa; mrs x0, tpidr_el0; paciasp; a word of SVE
    for word in [
        0xd65f_0000,
        0xd65f_0bff,
        0xd53b_d040,
        0xd503_233f,
        0x0480_0000,
    ] {
        refused(0, Reason::Instruction(word), |code| {
            words(code, &[word, RET])
        });
    }
    for number in [0, 13, 0xffff] {
        let svc = 0xd400_0001 | number << 5;
        refused(0, Reason::Request(number), |code| words(code, &[svc, RET]));
    }
    for number in 1..=12 {
        accepted(|code| words(code, &[0xd400_0001 | number << 5, RET]));
    }
}

/// Writes a counted loop over x1 from its parts.
fn count(code: &mut Code, before: u32, body: &[u32], behind: &[u32]) {
    code.word(before);
    code.at(Label::Loop(1, 0));
    words(code, body);
    code.push(Item::Near(B_NE, Label::Loop(1, 0)));
    words(code, behind);
    code.record(26);
    code.word(RET);
}

#[test]
fn counted_loops_count_one_constant_step_in_their_direction() {
    let (wide, half) = (0xd241_003a, 0x2a01_03fa);
    let (up, down) = (0xcb1a_003a, 0xcb01_035a);
    let (half_up, half_down, tag) = (0x4b1a_003a, 0x4b01_035a, 0xb241_035a);
    let (add, sub, half_add, half_sub) = (0x9100_0c21, 0xf100_0c21, 0x3100_0c21, 0x7100_0c21);
    accepted(|code| count(code, wide, &[add], &[up]));
    accepted(|code| count(code, wide, &[sub, NOP], &[down]));
    accepted(|code| count(code, half, &[half_add], &[half_up, tag]));
    accepted(|code| count(code, half, &[half_sub], &[half_down, tag]));
    let wrong: &[(u32, &[u32], &[u32])] = &[
        // The other direction.
        (wide, &[sub], &[up]),
        (wide, &[add], &[down]),
        (half, &[half_add], &[half_down, tag]),
        // Without a tag, and with the other width.
        (half, &[half_add], &[half_up]),
        (half, &[add], &[half_up, tag]),
        (wide, &[half_add], &[up]),
        // Two steps, none, a step of 0, and a step that is no constant.
        (wide, &[add, add], &[up]),
        (wide, &[NOP], &[up]),
        (wide, &[0x9100_0021], &[up]),
        (wide, &[0x8b02_0021], &[up]),
        // A load into the register, and a request that may change it.
        (wide, &[add, 0xf940_0041], &[up]),
        (wide, &[add, 0xd400_0021], &[up]),
        // A call, a return and another branch.
        (wide, &[add, 0x9400_0000], &[up]),
        (wide, &[add, RET], &[up]),
        (wide, &[add, 0x5400_0060], &[up]),
    ];
    for &(before, body, behind) in wrong {
        let all = refusals(&program(|code| count(code, before, body, behind)));
        assert!(
            all.contains(&(BASE + 8, Reason::Count)),
            "{body:x?} {behind:x?} {all:x?}"
        );
    }
    // x26 in the block.
    let all = refusals(&program(|code| {
        count(code, wide, &[add, 0x9100_075a], &[up])
    }));
    assert!(all.contains(&(BASE + 8, Reason::Reserved(26))));
}

#[test]
fn a_branch_to_x30_is_refused_because_its_target_returns_to_itself() {
    let all = refusals(&program(|code| {
        code.record(30);
        code.word(0xd61f_03c0);
    }));
    assert!(all.contains(&(BASE + 8, Reason::LoneRecord(30))));
}
