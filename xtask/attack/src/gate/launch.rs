// SPDX-License-Identifier: MIT OR Apache-2.0
//! The code that brings a CPU to the start of a run. It stands in a page of kernel text, is
//! made of instructions that Linux has, and ends with an ERET.

use super::states::Start;

/// What it executes.
pub const WORDS: [u32; 13] = [
    msr(2, 0, 1, 0, 4, 8),  // OSLAR_EL1, x8
    msr(2, 0, 0, 0, 4, 1),  // DBGBVR0_EL1, x1
    msr(2, 0, 0, 0, 5, 2),  // DBGBCR0_EL1, x2
    msr(2, 0, 0, 2, 2, 0),  // MDSCR_EL1, x0
    msr(3, 3, 14, 3, 2, 9), // CNTV_CVAL_EL0, x9
    msr(3, 3, 14, 3, 1, 7), // CNTV_CTL_EL0, x7
    msr(3, 0, 4, 0, 1, 6),  // ELR_EL1, x6
    msr(3, 0, 4, 0, 0, 5),  // SPSR_EL1, x5
    msr(3, 0, 4, 1, 0, 3),  // SP_EL0, x3
    0x9100_009f,            // MOV sp, x4
    0xd503_3fdf,            // ISB
    ERET,
    0xd503_201f, // NOP, what a call returns to
];

const ERET: u32 = 0xd69f_03e0;
/// Offset of the ERET.
pub const LAST: u64 = 11 * 4;
/// Offset of what a call returns to.
pub const RETURN: u64 = 12 * 4;

/// `MSR` to a system register (DDI 0487, C5.1.2).
const fn msr(op0: u32, op1: u32, crn: u32, crm: u32, op2: u32, register: u32) -> u32 {
    0xd500_0000 | op0 << 19 | op1 << 16 | crn << 12 | crm << 8 | op2 << 5 | register
}

/// x0 to x9 for it.
pub fn arguments(start: &Start) -> [u64; 10] {
    // The timer's interrupt is level-sensitive: it is pending as soon as the timer is on.
    let timer = u64::from(start.interrupt_after.is_some());
    let [value, control] = start.breakpoint;
    let [sp_el0, sp_el1] = start.stacks;
    [
        start.debug,
        value,
        control,
        sp_el0,
        sp_el1,
        start.pstate,
        start.target,
        timer,
        0,
        0,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_the_comments_say() {
        // As an assembler has them.
        assert_eq!(WORDS[3], 0xd510_0240); // msr mdscr_el1, x0
        assert_eq!(WORDS[5], 0xd51b_e327); // msr cntv_ctl_el0, x7
        assert_eq!(WORDS[6], 0xd518_4026); // msr elr_el1, x6
        assert_eq!(WORDS[LAST as usize / 4], ERET);
    }
}
