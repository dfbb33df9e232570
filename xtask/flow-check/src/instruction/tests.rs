// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two other decoders beside ours: what ours accepts, they decode, with equal general registers.

use std::sync::atomic::{AtomicU32, Ordering};

use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::InstDecoder;

use super::*;

/// Words that one test looks at.
const WORDS: u32 = 3_000_000;

/// Lists the general registers that a line of assembler names.
fn named(text: &str) -> Registers {
    let tokens = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    let numbers = tokens
        .skip(1)
        .filter_map(|it| it.strip_prefix(['x', 'w'])?.parse().ok());
    numbers.fold(Registers::NONE, |set, it| set.and(Registers::of(it)))
}

/// Says whether a line of assembler changes the condition flags. A request may.
fn sets_flags(text: &str) -> bool {
    const NAMES: [&str; 18] = [
        "adds", "subs", "adcs", "sbcs", "ands", "bics", "negs", "ngcs", "cmp", "cmn", "tst",
        "ccmp", "ccmn", "fcmp", "fcmpe", "fccmp", "fccmpe", "svc",
    ];
    let name = text.split_whitespace().next();
    name.is_some_and(|it| NAMES.contains(&it))
}

fn yaxpeax(word: u32) -> Option<String> {
    let bytes = word.to_le_bytes();
    let decoded = InstDecoder::default().decode(&mut U8Reader::new(&bytes));
    decoded.ok().map(|it| it.to_string())
}

fn disarm(word: u32) -> Option<String> {
    disarm64::decoder::decode(word).map(|it| it.to_string())
}

/// Compares a word that is accepted with what another decoder says of it. `false`: it is refused.
fn agrees(word: u32, other: impl Fn(u32) -> Option<String>) -> bool {
    let Some(ours) = Instruction::decode(word) else {
        return false;
    };
    let theirs = other(word).unwrap_or_else(|| panic!("{word:08x} is decoded by us alone"));
    // What these use stands in no field.
    let unseen = match ours.flow {
        Flow::Call(_) | Flow::IndirectCall(_) | Flow::Return => Registers::of(LINK),
        Flow::Supervisor(_) => Registers::range(0, 16),
        _ => Registers::NONE,
    };
    let seen = named(&theirs).and(unseen);
    assert_eq!(seen, ours.registers(), "{word:08x} {theirs}");
    assert_eq!(sets_flags(&theirs), ours.sets_flags, "{word:08x} {theirs}");
    true
}

/// Looks at pseudorandom words, and returns how many were accepted.
fn sample(seed: u64, other: impl Fn(u32) -> Option<String>) -> u32 {
    let mut state = seed;
    let words = (0..WORDS).map(|_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    });
    words.filter(|&it| agrees(it, &other)).count() as u32
}

/// Looks at all words, on all processors, and returns how many were accepted.
fn all(other: impl Fn(u32) -> Option<String> + Copy + Send + Sync) -> u64 {
    let next = AtomicU32::new(0);
    let part = || {
        let mut accepted = 0;
        loop {
            let high = next.fetch_add(1, Ordering::Relaxed);
            if high >= 1 << 12 {
                return accepted;
            }
            let words = high << 20..=high << 20 | 0xf_ffff;
            accepted += words.filter(|&it| agrees(it, other)).count() as u64;
        }
    };
    std::thread::scope(|scope| {
        let count = std::thread::available_parallelism().map_or(1, |it| it.get());
        let parts: Vec<_> = (0..count).map(|_| scope.spawn(part)).collect();
        parts
            .into_iter()
            .map(|it| it.join().expect("they agree"))
            .sum()
    })
}

#[test]
#[ignore = "all words: many minutes, with --release"]
fn all_that_is_accepted_has_the_registers_that_yaxpeax_arm_sees() {
    println!("{} words are accepted", all(yaxpeax));
}

#[test]
#[ignore = "all words: many minutes, with --release"]
fn all_that_is_accepted_has_the_registers_that_disarm64_sees() {
    println!("{} words are accepted", all(disarm));
}

#[test]
fn what_is_accepted_has_the_registers_that_yaxpeax_arm_sees() {
    assert!(sample(1, yaxpeax) > WORDS / 4);
}

#[test]
fn what_is_accepted_has_the_registers_that_disarm64_sees() {
    assert!(sample(2, disarm) > WORDS / 4);
}

#[test]
fn what_changes_registers_or_flow_unseen_is_refused() {
    for (word, name) in [
        (0xd65f_0000_u32, "ret x0"),
        (0xd65f_0bff, "retaa"),
        (0xd71f_0801, "braa x0, x1"),
        (0xd69f_03e0, "eret"),
        (0xd6bf_03e0, "drps"),
        (0xd61f_03e0, "br xzr"),
        (0xd503_233f, "paciasp"),
        (0xd503_23bf, "autiasp"),
        (0xd503_205f, "wfe"),
        (0xd53b_d040, "mrs x0, tpidr_el0"),
        (0xd51b_d040, "msr tpidr_el0, x0"),
        (0xd400_0002, "hvc #0"),
        (0xd440_0000, "hlt #0"),
        (0xf83f_d010, "ld64b x16, [x0]"),
        (0xf83f_9014, "st64b x20, [x0]"),
        (0xc8a0_7c41, "cas x0, x1, [x2]"),
        (0xf820_8041, "swp x0, x1, [x2]"),
        (0xf821_0042, "ldadd x1, x2, [x2]"),
        (0x5400_001e, "b.al"),
        (0xba00_0400, "rmif"),
        (0x91800000, "addg"),
        (0x0480_0000, "an instruction of SVE"),
    ] {
        assert_eq!(Instruction::decode(word), None, "{name}");
    }
}

#[test]
fn constant_steps_are_read_from_additions_and_moving_bases() {
    let step = |word| Instruction::decode(word).expect("known").step;
    let of = |register, by, wide| Some(Step { register, by, wide });
    assert_eq!(step(0x9100_0821), of(1, 2, true), "add x1, x1, #2");
    assert_eq!(step(0x7100_0421), of(1, -1, false), "subs w1, w1, #1");
    assert_eq!(
        step(0xf140_0463),
        of(3, -4096, true),
        "subs x3, x3, #1, lsl #12"
    );
    assert_eq!(step(0x9100_0441), None, "add x1, x2, #1");
    assert_eq!(step(0xf840_8441), of(2, 8, true), "ldr x1, [x2], #8");
    assert_eq!(step(0xb81f_cc41), of(2, -4, true), "str w1, [x2, #-4]!");
    assert_eq!(step(0xa8c1_0861), of(3, 16, true), "ldp x1, x2, [x3], #16");
    assert_eq!(step(0xad81_0861), of(3, 32, true), "stp q1, q2, [x3, #32]!");
    assert_eq!(
        step(0x4cdf_7060),
        of(3, 16, true),
        "ld1 {{v0.16b}}, [x3], #16"
    );
    assert_eq!(step(0x4cc4_7060), None, "ld1 {{v0.16b}}, [x3], x4");
}
