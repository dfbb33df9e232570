// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decides which instructions may change while another CPU may execute them.
//!
//! Where one CPU changes an instruction that a second CPU executes, the result may be whatever some
//! sequence of instructions of the same exception level could do, a write of TCR_EL1 included.
//! There is one exception: the instruction before the change and the one after it are both B, BL,
//! BRK, HVC, ISB, NOP, SMC or SVC. Then the CPU executes one or the other (Arm DDI 0487, B2.2.5,
//! "Concurrent modification and execution of instructions").
//!
//! This is beside the scanner's question, whether an instruction may stand in text at all: HVC,
//! SMC and SVC are on the list here and refused there.

/// An instruction, by the bits that are fixed.
struct Pattern {
    mask: u32,
    value: u32,
}

/// The manual's list, by the encodings of C4.1 and C6.2. B is the unconditional branch alone: what
/// the manual promises of a conditional one is less. What may stand in text comes first: a call may
/// compare 512 words.
const LIST: [Pattern; 7] = [
    // B label, BL label
    Pattern::new(0x7c00_0000, 0x1400_0000),
    // NOP
    Pattern::new(0xffff_ffff, 0xd503_201f),
    // BRK #imm16
    Pattern::new(0xffe0_001f, 0xd420_0000),
    // ISB SY, the one option that is not reserved
    Pattern::new(0xffff_ffff, 0xd503_3fdf),
    // SVC #imm16
    Pattern::new(0xffe0_001f, 0xd400_0001),
    // HVC #imm16
    Pattern::new(0xffe0_001f, 0xd400_0002),
    // SMC #imm16
    Pattern::new(0xffe0_001f, 0xd400_0003),
];

impl Pattern {
    const fn new(mask: u32, value: u32) -> Self {
        Self { mask, value }
    }

    const fn matches(&self, word: u32) -> bool {
        word & self.mask == self.value
    }
}

/// Whether a word is on the list.
pub fn is_listed(word: u32) -> bool {
    LIST.iter().any(|pattern| pattern.matches(word))
}

/// Whether a word may be replaced by `new` while any CPU may be executing it. A word that stays
/// what it is does not change.
pub fn may_change(old: u32, new: u32) -> bool {
    old == new || (is_listed(old) && is_listed(new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOP: u32 = 0xd503_201f;
    const ISB: u32 = 0xd503_3fdf;

    /// The manual's list by name, in the words of the encoding tables: (name, first, last, step).
    const RANGES: [(&str, u32, u32, u32); 8] = [
        ("b", 0x1400_0000, 0x17ff_ffff, 1),
        ("bl", 0x9400_0000, 0x97ff_ffff, 1),
        ("nop", NOP, NOP, 1),
        ("isb", ISB, ISB, 1),
        ("brk", 0xd420_0000, 0xd43f_ffe0, 0x20),
        ("svc", 0xd400_0001, 0xd41f_ffe1, 0x20),
        ("hvc", 0xd400_0002, 0xd41f_ffe2, 0x20),
        ("smc", 0xd400_0003, 0xd41f_ffe3, 0x20),
    ];

    fn in_ranges(word: u32) -> bool {
        RANGES.iter().any(|&(_, first, last, step)| {
            (first..=last).contains(&word) && (word - first).is_multiple_of(step)
        })
    }

    #[test]
    fn neighbours_of_the_list_are_not_on_it() {
        for (name, word) in [
            ("b.eq", 0x5400_0000),
            ("bc.eq", 0x5400_0010),
            ("cbz x0", 0xb400_0000),
            ("tbz w0", 0x3600_0000),
            ("br x0", 0xd61f_0000),
            ("blr x0", 0xd63f_0000),
            ("ret", 0xd65f_03c0),
            ("eret", 0xd69f_03e0),
            ("udf", 0x0000_0000),
            ("hlt", 0xd440_0000),
            ("dcps1", 0xd4a0_0001),
            ("brk with a field that is not 0", 0xd420_0001),
            ("yield", 0xd503_203f),
            ("bti c", 0xd503_245f),
            ("paciasp", 0xd503_233f),
            ("dsb sy", 0xd503_3f9f),
            ("dmb sy", 0xd503_3fbf),
            ("isb with a reserved option", 0xd503_30df),
            ("sb", 0xd503_30ff),
            ("add x0, x0, #1", 0x9100_0400),
            ("mov x9, x30", 0xaa1e_03e9),
            ("ldr x0, [x0]", 0xf940_0000),
            ("msr tcr_el1, x0", 0xd518_2040),
        ] {
            assert!(!is_listed(word), "{name} {word:#010x}");
        }
    }

    #[test]
    fn each_end_of_each_range_is_on_the_list() {
        for (name, first, last, _) in RANGES {
            assert!(is_listed(first) && is_listed(last), "{name}");
        }
    }

    /// Every word of the exception-generating and system space, in which all of the list but the
    /// two branches is, and a prime stride through everything else.
    #[test]
    #[cfg_attr(miri, ignore = "100 million words")]
    fn the_list_is_what_the_encoding_tables_say() {
        for word in 0xd400_0000..=0xd5ff_ffffu32 {
            assert_eq!(is_listed(word), in_ranges(word), "{word:#010x}");
        }
        for word in (0..=u32::MAX).step_by(61) {
            assert_eq!(is_listed(word), in_ranges(word), "{word:#010x}");
        }
    }

    #[test]
    fn both_words_count() {
        let add = 0x9100_0400;
        let subtract = 0xd100_0400;
        assert!(may_change(NOP, 0x1400_0001), "a static key");
        assert!(may_change(0x9400_0001, NOP), "ftrace");
        assert!(may_change(NOP, 0xd420_0080), "a probe on a NOP");
        assert!(!may_change(add, 0xd420_0080), "a probe on anything else");
        assert!(!may_change(0xd420_0080, add), "and its end");
        assert!(!may_change(add, subtract));
        assert!(may_change(add, add), "nothing changes");
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 16 } else { 4096 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn a_change_is_as_free_as_its_way_back(old: u32, new: u32) {
            prop_assert_eq!(may_change(old, new), may_change(new, old));
            prop_assert_eq!(is_listed(old), in_ranges(old));
            prop_assert_eq!(may_change(old, NOP), old == NOP || in_ranges(old));
        }
    }
}
