// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must never be executable at EL1, whatever a list says: the auditor's own rules, from the
//! encoding tables of the manual (DDI 0487, C5 and D24), by field and not by entry.
//!
//! The allow-list is shared with the inner domain's scanner. An entry that found its way onto it by
//! mistake would blind both; these rules would still name it.

use super::code::InstructionKind;

/// Why a word of this kind must never be executable; none where the allow-list decides alone.
pub const fn why(kind: InstructionKind) -> Option<&'static str> {
    match kind {
        InstructionKind::Pair(_) => Some("it writes 128 bits at once"),
        InstructionKind::Unknown => Some("the manual does not define it"),
        InstructionKind::Exception(name) => exception(name),
        InstructionKind::System([0, op1, crn, crm, op2]) => state(op1, crn, crm, op2),
        InstructionKind::System([1, op1, crn, crm, op2]) => maintenance(op1, crn, crm, op2),
        InstructionKind::System([2, op1, crn, crm, op2]) => debug(op1, crn, crm, op2),
        InstructionKind::System([_, op1, crn, crm, op2]) => register(op1, crn, crm, op2),
    }
}

const fn exception(name: &str) -> Option<&'static str> {
    match name.as_bytes() {
        b"BRK" => None,
        b"HVC" | b"SMC" => Some("it calls the firmware past the inner domain"),
        b"HLT" | b"DCPS1" | b"DCPS2" | b"DCPS3" => Some("it is for Debug state or semihosting"),
        _ => Some("it generates an exception that nothing at EL1 needs"),
    }
}

/// MSR (immediate), hints and barriers.
const fn state(op1: u8, crn: u8, crm: u8, op2: u8) -> Option<&'static str> {
    match (op1, crn, crm, op2) {
        (1, 4, _, 0) => Some("it unmasks what DAIF does not mask"),
        (3, 4, _, 3) => Some("it changes streaming mode"),
        _ => None,
    }
}

/// SYS and SYSL.
const fn maintenance(op1: u8, crn: u8, crm: u8, op2: u8) -> Option<&'static str> {
    match (op1, crn, crm, op2) {
        (_, 11 | 15, _, _) => Some("IMPLEMENTATION DEFINED"),
        (0, 7, 6 | 10 | 14, 2 | 4 | 6) => Some("it maintains a cache by set and way"),
        (1, 7, 2, 4..=7) => Some("it is for branch records"),
        (3, 7, 2, 7) => Some("it is for trace"),
        (4..=7, _, _, _) => Some("it belongs to EL2 or EL3"),
        _ => None,
    }
}

/// MSR of debug and trace registers.
const fn debug(op1: u8, crn: u8, crm: u8, op2: u8) -> Option<&'static str> {
    match (op1, crn, crm, op2) {
        (0, 0, 5, 2) => Some("it writes MDSTEPOP_EL1, a register that is executed"),
        (0, 0, 0 | 3 | 6, 2) => Some("it writes the external debugger's state"),
        (0, 1, 4, 4) => Some("it writes DBGPRCR_EL1, which asks for a reset"),
        (0, 0, 2, 0) | (3, 0, 4 | 5, 0) => Some("it is the debug communication channel"),
        (1, _, _, _) => Some("it is for trace or branch records"),
        (4..=7, _, _, _) => Some("it belongs to AArch32 debug"),
        _ => None,
    }
}

/// MSR of system registers.
const fn register(op1: u8, crn: u8, crm: u8, op2: u8) -> Option<&'static str> {
    match (op1, crn, crm, op2) {
        (_, 11 | 15, _, _) => Some("IMPLEMENTATION DEFINED"),
        // TPIDR_EL2, half of an alternative of Linux's.
        (4, 13, 0, 2) => None,
        (4..=7, _, _, _) => Some("it belongs to EL2, EL3 or secure EL1"),
        (0, 1, 0, 0 | 1 | 3) => Some("it writes SCTLR_EL1, ACTLR_EL1 or SCTLR2_EL1"),
        (0, 1, 4, _) => Some("it writes a mask or an alias of SCTLR_EL1"),
        (0, 1, 2, 1 | 3) => Some("it writes a filter of trace"),
        (0, 2, 0, _) => Some("it writes TTBR0_EL1, TTBR1_EL1, TCR_EL1 or TCR2_EL1"),
        (0, 2, 7, _) => Some("it writes a mask or an alias of TCR_EL1"),
        (0, 4, 3, 0 | 1) => Some("it unmasks what DAIF does not mask"),
        (0, 5, 3..=5, _) => Some("it writes records of errors"),
        (0, 9, 9..=11, _) => Some("it is for buffers of profiling and trace"),
        (0, 9, 14, 5) => Some("it writes PMECR_EL1"),
        (_, 10, 2 | 3, _) => Some("it writes MAIR_EL1, AMAIR_EL1, PIR_EL1 or POR_EL1"),
        (0, 10, 4, _) => Some("it writes limited ordering regions"),
        (0, 12, 0, 0) => Some("it writes VBAR_EL1"),
        (0, 12, 0, 2) => Some("it writes RMR_EL1, which asks for a reset"),
        (0, 13, 0, 3 | 6) => Some("it writes RCWMASK_EL1 or RCWSMASK_EL1"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::code::{AllowList, kind};
    use super::*;
    use std::path::Path;

    /// A word of each rule, assembled by hand.
    const NEVER: [(u32, &str); 34] = [
        (0xd518_2040, "msr tcr_el1, x0"),
        (0xd518_2000, "msr ttbr0_el1, x0"),
        (0xd518_2020, "msr ttbr1_el1, x0"),
        (0xd518_2060, "msr tcr2_el1, x0"),
        (0xd518_1000, "msr sctlr_el1, x0"),
        (0xd518_1020, "msr actlr_el1, x0"),
        (0xd518_1060, "msr sctlr2_el1, x0"),
        (0xd518_1400, "msr s3_0_c1_c4_0, x0"),
        (0xd518_2740, "msr s3_0_c2_c7_2, x0"),
        (0xd518_c000, "msr vbar_el1, x0"),
        (0xd518_c040, "msr rmr_el1, x0"),
        (0xd518_a200, "msr mair_el1, x0"),
        (0xd518_a300, "msr amair_el1, x0"),
        (0xd518_a240, "msr pire0_el1, x0"),
        (0xd518_a260, "msr pir_el1, x0"),
        (0xd518_a280, "msr por_el1, x0"),
        (0xd51b_a280, "msr por_el0, x0"),
        (0xd518_d060, "msr rcwsmask_el1, x0"),
        (0xd518_f220, "msr s3_0_c15_c2_1, x0"),
        (0xd519_f200, "msr s3_1_c15_c2_0, x0"),
        (0xd518_b000, "msr s3_0_c11_c0_0, x0"),
        (0xd508_f000, "sys #0, c15, c0, #0, x0"),
        (0xd51c_1100, "msr hcr_el2, x0"),
        (0xd518_9a00, "msr pmblimitr_el1, x0"),
        (0xd510_0540, "msr mdstepop_el1, x0"),
        (0xd508_7640, "dc isw, x0"),
        (0xd508_7a40, "dc csw, x0"),
        (0xd508_7e40, "dc cisw, x0"),
        (0xd50c_871f, "tlbi alle2"),
        (0xd400_0002, "hvc #0"),
        (0xd400_0003, "smc #0"),
        (0xd440_0000, "hlt #0"),
        (0xd4a0_0001, "dcps1"),
        (0xd558_2000, "msrr ttbr0_el1, x0, x1"),
    ];

    #[test]
    fn each_is_denied() {
        for (word, text) in NEVER {
            let kind = kind(word);
            assert!(kind.and_then(why).is_some(), "{text}: {kind:?}");
        }
    }

    #[test]
    fn what_the_kernel_needs_is_not_denied() {
        for word in [
            0xd503_201f, // nop
            0xd503_3fdf, // isb
            0xd503_34df, // msr daifset, #4
            0xd518_4020, // msr elr_el1, x0
            0xd508_871f, // tlbi vmalle1
            0xd50b_7b20, // dc cvau, x0
            0xd420_0000, // brk #0
            0xd518_1040, // msr cpacr_el1, x0
            0xd51c_d040, // msr tpidr_el2, x0
        ] {
            let kind = kind(word).unwrap_or(InstructionKind::Unknown);
            assert_eq!(why(kind), None, "{word:#x}");
        }
    }

    #[test]
    fn the_allow_list_has_nothing_that_is_denied() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let list = AllowList::read(&root.join("kernel-patch/allow-list.toml"));
        let list = list.expect("the allow-list");
        let both: Vec<InstructionKind> = list.kinds().filter(|it| why(*it).is_some()).collect();
        assert!(both.is_empty(), "{both:?}");
    }
}
