// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scanner against the manual's tables, written down as masks and values.

use std::format;
use std::string::ToString;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;

/// What the manual's table says that a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordKind {
    Exception(&'static str),
    Hint,
    Barrier,
    Wait,
    State,
    Msr,
    Msrr,
    Mrs,
    Mrrs,
    Sys,
    Sysp,
    Sysl,
}

/// (mask, value, kind), from the encoding diagrams of C6.2 and C5; the first that fits counts.
const DIAGRAMS: [(u32, u32, WordKind); 20] = [
    (0xffe0_001f, 0xd400_0001, WordKind::Exception("svc")),
    (0xffe0_001f, 0xd400_0002, WordKind::Exception("hvc")),
    (0xffe0_001f, 0xd400_0003, WordKind::Exception("smc")),
    (0xffe0_001f, 0xd420_0000, WordKind::Exception("brk")),
    (0xffe0_001f, 0xd440_0000, WordKind::Exception("hlt")),
    (0xffe0_001f, 0xd460_0000, WordKind::Exception("tcancel")),
    (0xffe0_001f, 0xd4a0_0001, WordKind::Exception("dcps1")),
    (0xffe0_001f, 0xd4a0_0002, WordKind::Exception("dcps2")),
    (0xffe0_001f, 0xd4a0_0003, WordKind::Exception("dcps3")),
    (0xffff_f01f, 0xd503_201f, WordKind::Hint),
    (0xffff_f01f, 0xd503_301f, WordKind::Barrier),
    (0xffff_ffc0, 0xd503_1000, WordKind::Wait),
    (0xfff8_f01f, 0xd500_401f, WordKind::State),
    (0xfff0_0000, 0xd510_0000, WordKind::Msr),
    (0xfff0_0000, 0xd550_0000, WordKind::Msrr),
    (0xfff0_0000, 0xd530_0000, WordKind::Mrs),
    (0xfff0_0000, 0xd570_0000, WordKind::Mrrs),
    (0xfff8_0000, 0xd508_0000, WordKind::Sys),
    (0xfff8_0000, 0xd548_0000, WordKind::Sysp),
    (0xfff8_0000, 0xd528_0000, WordKind::Sysl),
];

fn kind(word: u32) -> Option<WordKind> {
    DIAGRAMS
        .iter()
        .find(|(mask, value, _)| word & mask == *value)
        .map(|&(_, _, kind)| kind)
}

/// The kind that a class claims.
fn claimed(class: Class) -> Option<WordKind> {
    Some(match class {
        Class::Register(_) => WordKind::Msr,
        Class::RegisterPair(_) => WordKind::Msrr,
        Class::System(_) => WordKind::Sys,
        Class::SystemPair(_) => WordKind::Sysp,
        Class::SystemResult(_) => WordKind::Sysl,
        Class::State(_) => WordKind::State,
        Class::Hint(_) => WordKind::Hint,
        Class::Barrier(_) => WordKind::Barrier,
        Class::Exception(it) => WordKind::Exception(it.name()),
        Class::Unallocated(_) => return None,
    })
}

/// Which results a kind can have.
fn agrees(word: u32) -> Result<(), std::string::String> {
    let result = check(word);
    let system = (0xd400_0000..=0xd5ff_ffff).contains(&word);
    let expected = match (kind(word), result) {
        (_, ScanResult::Allowed) if !system => true,
        (Some(WordKind::Mrs | WordKind::Mrrs), ScanResult::Allowed) => true,
        (
            Some(
                WordKind::Exception("brk")
                | WordKind::Hint
                | WordKind::Barrier
                | WordKind::Wait
                | WordKind::State
                | WordKind::Msr
                | WordKind::Sys,
            ),
            ScanResult::Allowed,
        ) => true,
        (Some(WordKind::Wait | WordKind::Mrs | WordKind::Mrrs | WordKind::Exception("brk")), _) => {
            false
        }
        (kind, ScanResult::Refused(class)) => system && claimed(class) == kind,
        (_, ScanResult::Allowed) => false,
    };
    if expected {
        Ok(())
    } else {
        Err(format!("{word:#010x} is {:?}, but {result:?}", kind(word)))
    }
}

fn cases(count: u32) -> ProptestConfig {
    ProptestConfig {
        cases: if cfg!(miri) { 40 } else { count },
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn any_word_is_what_the_manuals_tables_say(word in any::<u32>()) {
        agrees(word).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn any_system_word_is_what_the_manuals_tables_say(low in 0_u32..1 << 25) {
        agrees(0xd400_0000 | low).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn the_first_refused_word_is_found_wherever_it_stands(
        before in prop::collection::vec(prop::sample::select(ALLOWED.as_slice()), 0..200),
        refused in prop::sample::select(REFUSED.as_slice()),
        after in prop::collection::vec(any::<u32>(), 0..20),
    ) {
        let mut words: Vec<u32> = before.iter().map(|&(word, _)| word).collect();
        prop_assert_eq!(first_refused(words.iter().copied()), None);
        let index = words.len();
        words.push(refused.0);
        words.extend(after);
        prop_assert_eq!(first_refused(words.into_iter()), Some((index, refused.0)));
    }
}

/// Instructions of Linux, of its modules and of what BPF programs are compiled to.
const ALLOWED: [(u32, &str); 31] = [
    (0xd503_201f, "nop"),
    (0xd503_229f, "csdb"),
    (0xd503_245f, "bti c"),
    (0xd503_22df, "clrbhb"),
    (0xd503_3bbf, "dmb ish"),
    (0xd503_3f9f, "dsb sy"),
    (0xd503_3fdf, "isb"),
    (0xd503_30ff, "sb"),
    (0xd503_1003, "wfet x3"),
    (0xd503_43df, "msr daifset, #3"),
    (0xd503_42ff, "msr daifclr, #2"),
    (0xd51b_4221, "msr daif, x1"),
    (0xd518_4001, "msr spsr_el1, x1"),
    (0xd518_4022, "msr elr_el1, x2"),
    (0xd51b_d045, "msr tpidr_el0, x5"),
    (0xd510_0240, "msr mdscr_el1, x0"),
    (0xd51b_eff5, "msr pmccfiltr_el0, x21"),
    (0xd508_831f, "tlbi vmalle1is"),
    (0xd508_8722, "tlbi vae1, x2"),
    (0xd508_8220, "tlbi rvae1is, x0"),
    (0xd518_2102, "msr apiakeylo_el1, x2"),
    (0xd518_1200, "msr zcr_el1, x0"),
    (0xd500_419f, "msr pan, #1"),
    (0xd50b_7b20, "dc cvau, x0"),
    (0xd50b_7523, "ic ivau, x3"),
    (0xd50b_7e23, "dc civac, x3"),
    (0xd508_7800, "at s1e1r, x0"),
    (0xd421_0000, "brk #0x800"),
    (0xd538_2003, "mrs x3, ttbr0_el1"),
    (0xd69f_03e0, "eret"),
    (0x0000_0000, "udf #0"),
];

/// At least one word of each class.
const REFUSED: [(u32, &str); 34] = [
    (0xd518_2043, "msr S3_0_C2_C0_2 (TCR_EL1)"),
    (0xd518_2000, "msr S3_0_C2_C0_0 (TTBR0_EL1)"),
    (0xd518_2020, "msr S3_0_C2_C0_1 (TTBR1_EL1)"),
    (0xd518_1000, "msr S3_0_C1_C0_0 (SCTLR_EL1)"),
    (0xd518_c000, "msr S3_0_C12_C0_0 (VBAR_EL1)"),
    (0xd518_a200, "msr S3_0_C10_C2_0 (MAIR_EL1)"),
    (0xd518_2060, "msr S3_0_C2_C0_3 (TCR2_EL1)"),
    (0xd518_a260, "msr S3_0_C10_C2_3 (PIRE0_EL1, PIR_EL1)"),
    (0xd510_0540, "msr S2_0_C0_C5_2 (MDSTEPOP_EL1)"),
    (
        0xd518_9a00,
        "msr S3_0_C9_C10_0 (statistical profiling buffer)",
    ),
    (0xd518_9b00, "msr S3_0_C9_C11_0 (trace buffer)"),
    (0xd519_f220, "msr S3_1_C15_C2_1 (IMPLEMENTATION DEFINED)"),
    (0xd508_f400, "sys S1_0_C15_C4_0 (IMPLEMENTATION DEFINED)"),
    (0xd51c_1100, "msr S3_4_C1_C1_0 (EL2)"),
    (
        0xd518_6000,
        "msr S3_0_C6_C0_0 (AFSR0_EL1, AFSR1_EL1, ESR_EL1, FAR_EL1, PAR_EL1)",
    ),
    (0xd518_0000, "msr S3_0_C0_C0_0"),
    (0xd558_2000, "msrr S3_0_C2_C0_0 (TTBR0_EL1)"),
    (0xd508_7623, "sys S1_0_C7_C6_1 (DC IVAC)"),
    (0xd508_7640, "sys S1_0_C7_C6_2 (DC ISW, IGSW, IGDSW)"),
    (
        0xd508_8520,
        "sys S1_0_C8_C5_1 (TLBI outer shareable, other forms by range, nXS)",
    ),
    (0xd548_8320, "sysp S1_0_C8_C3_1"),
    (0xd52b_7720, "sysl S1_3_C7_C7_1 (guarded control stack)"),
    (0xd500_41bf, "msr S0_0_C4_C1_5 (SPSel)"),
    (0xd503_237f, "hint #27"),
    (0xd503_2c1f, "hint #96"),
    (0xd503_307f, "barrier S0_3_C3_C0_3 (TCOMMIT)"),
    (0xd503_3060, "unallocated system instruction 0xd5033060"),
    (0xd400_0001, "svc"),
    (0xd400_0002, "hvc"),
    (0xd400_0003, "smc"),
    (0xd45e_0000, "hlt"),
    (0xd460_0000, "tcancel"),
    (0xd4a0_0001, "dcps1"),
    (0xd580_0000, "unallocated system instruction 0xd5800000"),
];

#[test]
fn what_linux_needs_is_allowed() {
    for (word, name) in ALLOWED {
        assert_eq!(check(word), ScanResult::Allowed, "{name}");
    }
}

#[test]
fn a_refusal_names_the_instruction() {
    for (word, name) in REFUSED {
        match check(word) {
            ScanResult::Refused(class) => assert_eq!(class.to_string(), name),
            ScanResult::Allowed => panic!("{name} is allowed"),
        }
    }
}

#[test]
fn the_operand_decides_nothing() {
    for operand in 0..32 {
        for (word, name) in [(0xd518_2040, "msr tcr_el1"), (0xd400_0003, "smc #0")] {
            let shift = if word >> 24 == 0xd5 { 0 } else { 5 };
            let word = word | operand << shift;
            assert_ne!(check(word), ScanResult::Allowed, "{name} {operand}");
        }
    }
}

#[test]
fn only_what_the_list_can_allow_is_sensitive() {
    assert!(is_sensitive(0xd518_2040));
    assert!(is_sensitive(0xd400_0003));
    assert!(is_sensitive(0xd503_201f));
    assert!(is_sensitive(0xd52b_7720), "sysl");
    assert!(!is_sensitive(0xd538_2040), "mrs");
    assert!(!is_sensitive(0xd65f_03c0), "ret");
}

#[test]
fn an_encoding_prints_as_assemblers_take_it() {
    let encoding = Encoding::new(3, 4, 13, 0, 2).expect("in range");
    assert_eq!(encoding.to_string(), "S3_4_C13_C0_2");
    assert_eq!(Encoding::new(3, 4, 16, 0, 2), None);
}

#[test]
fn names_are_sorted_and_apart() {
    for pair in super::names::NAMES.windows(2) {
        let [(first, last, _), (next, _, name)] = pair else {
            panic!("windows of two");
        };
        assert!(first <= last && last < next, "{name}");
    }
}
