// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the rewriter makes of assembly text, and what it refuses.

use std::fmt::Write;

use donjon_flow::{Source, rewrite};

fn source(body: &str) -> Source {
    let mut text = "\t.text\n\t.global f\n\t.type f, %function\nf:\n".to_owned();
    for line in body.lines() {
        let line = line.trim();
        let indent = if line.ends_with(':') { "" } else { "\t" };
        writeln!(text, "{indent}{line}").expect("a string takes it");
    }
    text += "\t.size f, .-f\n";
    Source {
        name: "f.s".into(),
        text,
    }
}

fn rewritten(body: &str) -> String {
    let mut texts = rewrite(&[source(body)]).expect("it can be rewritten");
    texts.remove(0).replace('\t', " ")
}

fn refusal(body: &str) -> String {
    let trouble = rewrite(&[source(body)]).expect_err("it has to be refused");
    format!("{trouble:#}")
}

/// How often a text has an instruction that begins so.
fn count(text: &str, beginning: &str) -> usize {
    let lines = text.lines().map(str::trim);
    lines.filter(|it| it.starts_with(beginning)).count()
}

const RECORD: &str = "str x30, [x27], #8";

#[test]
fn instructions_that_are_not_known_are_refused_with_file_and_line() {
    for unknown in [
        "mrs x0, tpidr_el0",
        "paciasp",
        "retaa",
        "ret x1",
        "eret",
        "casal x0, x1, [x2]",
        "ldr x0, =f",
        "ldr x0, .Lpool",
        "b.eq elsewhere",
        "cbz x0, f + 4",
        "bl f + 8",
        "yield",
    ] {
        let words = refusal(&format!("nop\n{unknown}\nret"));
        assert!(words.contains("f.s") && words.contains('6'), "{words}");
    }
}

#[test]
fn a_program_of_one_path_gets_nothing() {
    let text = rewritten("add x0, x0, x1\nret");
    assert!(!text.contains("x27") && !text.contains("x28"));
}

#[test]
fn each_load_of_a_return_address_is_directly_followed_by_its_record() {
    for load in [
        "ldp x29, x30, [sp], 16",
        "ldp x30, x19, [sp], 16",
        "ldp x19, lr, [sp, 16]",
        "ldr x30, [sp], 16",
        "ldr x30, [x1, 8]",
        "ldur x30, [sp, -8]",
    ] {
        for leave in ["ret", "b g", "ret x30"] {
            let text = rewritten(&format!("str x30, [sp, -16]!\nbl g\n{load}\n{leave}"));
            let lines: Vec<_> = text.lines().map(str::trim).collect();
            let place = lines.iter().position(|it| it.starts_with("ld"));
            assert_eq!(
                lines[place.expect("the load is kept") + 1],
                RECORD,
                "{load}"
            );
        }
    }
}

#[test]
fn data_in_the_link_register_is_loaded_by_another_one_and_not_recorded() {
    let text = rewritten(
        "str x30, [sp, -16]!
        ldr x30, [x0, 8]
        add x0, x0, x30
        ldrsw x30, [x30, x1]
        ldp w9, w30, [x2]
        str w30, [x0]
        ldr x30, [sp], 16
        ret",
    );
    assert_eq!(count(&text, RECORD), 1);
    assert_eq!(count(&text, "ldr x9, [x0, 8]"), 1);
    assert_eq!(count(&text, "ldrsw x9, [x9, x1]"), 1);
    assert_eq!(count(&text, "ldp w9, w10, [x2]"), 1);
    assert!(!text.contains("ldp w9, w30"));
}

#[test]
fn a_return_by_data_is_refused() {
    for body in [
        "mov x30, x0\nret",
        "add x30, x30, 4\nb g",
        "cbz x0, .L1\nmov x30, x1\n.L1:\nret",
        "ldr x30, [x0]\nadd x1, x1, x30\nret",
        "ldr w30, [x0]\nret",
    ] {
        assert!(refusal(body).contains("x30"), "{body}");
    }
}

#[test]
fn the_record_of_a_target_stands_directly_before_its_branch() {
    for branch in ["blr x3", "br x16"] {
        let text = rewritten(&format!(
            "str x30, [sp, -16]!\n{branch}\nldr x30, [sp], 16\nret"
        ));
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        let place = lines
            .iter()
            .position(|it| it == &branch)
            .expect("it is kept");
        let register = branch.rsplit(' ').next().expect("it has a register");
        assert_eq!(lines[place - 17], format!("str {register}, [x27], #8"));
        assert_eq!(lines[place - 1], "add x24, x24, x23");
    }
}

#[test]
fn endless_loops_and_recursion_get_a_bit() {
    for body in [
        ".L1:\nadd x0, x0, 1\nb .L1",
        "str x30, [sp, -16]!\n.L1:\nbl g\nb .L1",
        "str x30, [sp, -16]!\nbl f\nldr x30, [sp], 16\nret",
        "b f",
    ] {
        let text = rewritten(body);
        assert_eq!(count(&text, "lsl x28, x28, #1"), 1, "{body}:\n{text}");
    }
}

#[test]
fn recursion_through_several_files_gets_one_bit() {
    let one = source("str x30, [sp, -16]!\nbl g\nldr x30, [sp], 16\nret");
    let mut other = source("str x30, [sp, -16]!\nbl f\nldr x30, [sp], 16\nret");
    other.text = other.text.replace("f, ", "g, ").replace("f:", "g:");
    other.text = other
        .text
        .replace("global f", "global g")
        .replace(".-f", ".-g");
    let texts = rewrite(&[one, other]).expect("they can be rewritten");
    let bits: usize = texts.iter().map(|it| count(it, "lsl x28, x28, #1")).sum();
    assert_eq!(bits, 1);
}

#[test]
fn counted_loops_have_their_direction_and_width() {
    for (step, before, behind) in [
        (
            "add x1, x1, 4",
            "eor x26, x1, #0x8000000000000000",
            "sub x26, x1, x26",
        ),
        (
            "subs x1, x1, #3",
            "eor x26, x1, #0x8000000000000000",
            "sub x26, x26, x1",
        ),
        ("add w1, w1, 1", "mov w26, w1", "sub w26, w1, w26"),
        ("sub w1, w1, 1", "mov w26, w1", "sub w26, w26, w1"),
        (
            "ldr x2, [x1], -8",
            "eor x26, x1, #0x8000000000000000",
            "sub x26, x26, x1",
        ),
    ] {
        let text = rewritten(&format!(".L1:\n{step}\ncmp x1, x3\nb.ne .L1\nret"));
        assert_eq!(count(&text, before), 1, "{text}");
        assert_eq!(count(&text, behind), 1, "{text}");
        assert_eq!(count(&text, "orr x26"), usize::from(step.contains('w')));
        assert!(!text.contains("x28"));
    }
}

#[test]
fn loops_without_one_constant_step_are_not_counted() {
    for step in [
        "add x1, x1, x2",
        "add x1, x1, 1\nadd x1, x1, 1",
        "add x1, x1, 1\neor x1, x1, x2",
        "ldr x1, [x1]",
        "add x1, x1, 1\nsvc #1",
    ] {
        let text = rewritten(&format!(".L1:\n{step}\ncmp x1, x3\nb.ne .L1\nret"));
        assert!(
            !text.contains("x26") && text.contains("lsl x28, x28, #1"),
            "{text}"
        );
    }
}

#[test]
fn short_loops_between_constants_are_not_counted() {
    for (rounds, counts) in [(7, 0), (8, 1)] {
        let text = rewritten(&format!(
            "mov w1, {rounds}\n.L1:\nmul x0, x0, x2\nsubs w1, w1, #1\nb.ne .L1\nret"
        ));
        assert_eq!(count(&text, "str x26"), counts);
    }
}

#[test]
fn no_region_begins_between_an_exclusive_load_and_its_store() {
    let text =
        rewritten(".L1:\nldxr w1, [x0]\nadd w1, w1, 1\nstxr w2, w1, [x0]\ncbnz w2, .L1\nret");
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let place = lines
        .iter()
        .position(|it| it.starts_with("ldxr"))
        .expect("it is kept");
    assert_eq!(lines[place + 2], "stxr w2, w1, [x0]");
    let words = refusal(
        "ldxr w1, [x0]
        .L1:
        sub x3, x3, x4
        cbnz x3, .L1
        stxr w2, w1, [x0]
        ret",
    );
    assert!(words.contains("between ldxr and stxr"));
}

#[test]
fn branches_of_long_functions_are_turned_round_where_they_do_not_reach() {
    let mut body = "tbz x0, #3, .L1\n".to_owned();
    body += &"add x1, x1, x2\n".repeat(9000);
    body += ".L1:\nret";
    let text = rewritten(&body);
    assert_eq!(count(&text, "tbnz x0, #3, .Lflow_"), 1);
    assert_eq!(count(&text, "b .L1"), 1);
    // `tbnz x28` would not reach the flush either.
    assert_eq!(count(&text, "tbnz x28"), 0);
    assert_eq!(count(&text, "lsl x28, x28, #2"), 1);
}

/// Whether a loop over x1 or w1 with this body is counted.
fn is_counted(body: &str) -> bool {
    let text = rewritten(&format!(".Lloop:\n{body}\nret"));
    count(&text, "str x26, [x27], #8") == 1
}

#[test]
fn loops_whose_count_could_stand_for_two_numbers_of_iterations_get_bits() {
    for body in [
        "subs w1, w1, 1\nb.ne .Lloop",
        "add w1, w1, 1\ncmp w1, w3\nb.ne .Lloop",
        "add w1, w1, 1\ncbnz w1, .Lloop",
        "add w1, w1, 1\nsub w4, w1, 2\ntst w4, 7\ncset w5, eq\ncbnz w5, .Lloop",
        "add w1, w1, 1\ncmp x1, x3\nb.ne .Lloop",
        "ldr x2, [x1], 8\ncbnz x2, .Lloop",
        "ldr x2, [x1, 64]!\ncmp x1, x3\nb.ne .Lloop",
    ] {
        assert!(is_counted(body), "{body}");
    }
    for body in [
        "ldrb w2, [x3, w1, uxtw]\nadd w1, w1, 1\ncbnz w2, .Lloop",
        "ldr w3, [x4]\nadd w1, w1, 1\ncmp w1, w3\nb.ne .Lloop",
        "cmp x1, x3\nadd w1, w1, 1\nb.ne .Lloop",
        "add w1, w1, 1\ncmp w1, w3\nfcmp d0, d1\nb.ne .Lloop",
        "add w1, w1, 1\nadd w3, w3, 1\nudiv w4, w1, w3\ncmp w4, w5\nb.ne .Lloop",
        "add w1, w1, 1\nadd x4, sp, 16\ncmp x4, x1\nb.ne .Lloop",
        "ldr x2, [x1, 64]!\ncbnz x2, .Lloop",
    ] {
        assert!(!is_counted(body), "{body}");
    }
}

#[test]
fn nothing_follows_a_call_that_never_returns() {
    let calls = |behind: &str| {
        let text = rewritten(&format!(
            "cbz w0, .Lother\nbl abort\n.Lother:\nmov w0, 1\n{behind}ret"
        ));
        text.contains("bl abort\n brk #1000")
    };
    // Without a load of x30 the return would lead behind the call.
    assert!(calls(""));
    assert!(!calls("ldp x29, x30, [sp], 16\n"));
}
