// SPDX-License-Identifier: MIT OR Apache-2.0
//! The constants of TCR_EL1 against another author's field definitions, and the vectors'
//! comparison against every way to be wrong.

use aarch64_cpu::registers::TCR_EL1;
use donjon_abi::tcr;
use proptest::prelude::*;
use tock_registers::fields::FieldValue;

type Fields = FieldValue<u64, TCR_EL1::Register>;

/// What both views have in common.
fn shared() -> Fields {
    TCR_EL1::T0SZ.val(16)
        + TCR_EL1::IRGN0::WriteBack_ReadAlloc_WriteAlloc_Cacheable
        + TCR_EL1::ORGN0::WriteBack_ReadAlloc_WriteAlloc_Cacheable
        + TCR_EL1::SH0::Inner
        + TCR_EL1::TG0::KiB_4
        + TCR_EL1::IRGN1::WriteBack_ReadAlloc_WriteAlloc_Cacheable
        + TCR_EL1::ORGN1::WriteBack_ReadAlloc_WriteAlloc_Cacheable
        + TCR_EL1::SH1::Inner
        + TCR_EL1::TG1::KiB_4
        + TCR_EL1::IPS::Bits_40
        + TCR_EL1::AS::ASID16Bits
        + TCR_EL1::TBI0::Ignored
}

#[test]
fn the_outer_view_is_what_its_fields_say() {
    let outer = shared()
        + TCR_EL1::T1SZ.val(17)
        + TCR_EL1::A1::TTBR0
        + TCR_EL1::EPD0::EnableTTBR0Walks
        + TCR_EL1::EPD1::EnableTTBR1Walks;
    assert_eq!(outer.value, tcr::OUTER);
}

#[test]
fn the_inner_views_are_what_their_fields_say() {
    let wide = shared() + TCR_EL1::T1SZ.val(16) + TCR_EL1::EPD0::DisableTTBR0Walks;
    assert_eq!((wide + TCR_EL1::A1::TTBR1).value, tcr::INNER);
    assert_eq!((wide + TCR_EL1::A1::TTBR0).value, tcr::INNER_TLBI);
    let middle =
        shared() + TCR_EL1::T1SZ.val(17) + TCR_EL1::EPD0::DisableTTBR0Walks + TCR_EL1::A1::TTBR1;
    assert_eq!(middle.value, tcr::STRICT_MIDDLE);
}

#[test]
fn each_step_changes_each_field_by_one_bit() {
    let fields = [
        (0x3f << tcr::T1SZ_SHIFT, "T1SZ"),
        (tcr::A1, "A1"),
        (tcr::EPD0, "EPD0"),
    ];
    let steps = [
        (tcr::OUTER, tcr::INNER),
        (tcr::OUTER, tcr::INNER_TLBI),
        (tcr::OUTER, tcr::STRICT_MIDDLE),
        (tcr::STRICT_MIDDLE, tcr::INNER),
    ];
    for (from, to) in steps {
        let mut changed = from ^ to;
        for (mask, name) in fields {
            assert!(
                (changed & mask).count_ones() <= 1,
                "{name}: {from:#x} {to:#x}"
            );
            changed &= !mask;
        }
        assert_eq!(changed, 0, "no other field changes");
    }
}

/// The vectors' comparison: `sub #0x510; sub #0x113, lsl #12; ror #24; sub #0x2b5;
/// sub #3, lsl #12`, then CBNZ. Subtraction and rotation are bijections of 64-bit words, so the
/// whole is one, and exactly one value gives zero.
fn remainder(value: u64) -> u64 {
    value
        .wrapping_sub(0x510)
        .wrapping_sub(0x113 << 12)
        .rotate_right(24)
        .wrapping_sub(0x2b5)
        .wrapping_sub(3 << 12)
}

/// The inverse, step by step.
fn value_with(remainder: u64) -> u64 {
    remainder
        .wrapping_add(3 << 12)
        .wrapping_add(0x2b5)
        .rotate_left(24)
        .wrapping_add(0x113 << 12)
        .wrapping_add(0x510)
}

#[test]
fn the_comparison_accepts_the_outer_view() {
    assert_eq!(remainder(tcr::OUTER), 0);
    assert_eq!(value_with(0), tcr::OUTER);
}

#[test]
fn the_comparison_refuses_every_change_of_up_to_three_bits() {
    for first in 0..64 {
        for second in first..64 {
            for third in second..64 {
                // Equal positions cancel: this covers one, two and three bits.
                let flips = 1_u64 << first ^ 1 << second ^ 1 << third;
                assert_ne!(remainder(tcr::OUTER ^ flips), 0, "{flips:#x}");
            }
        }
    }
}

#[test]
fn the_comparison_refuses_the_other_views() {
    for value in [tcr::INNER, tcr::INNER_TLBI, tcr::STRICT_MIDDLE, tcr::BOOT] {
        assert_ne!(remainder(value), 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_comparison_is_a_bijection(value: u64) {
        prop_assert_eq!(value_with(remainder(value)), value);
        prop_assert_eq!(remainder(value) == 0, value == tcr::OUTER);
    }
}
