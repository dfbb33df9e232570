// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stands around the figures.

use crate::document::{Block, Section};

/// The first paragraph.
pub const SUMMARY: &str = "Donjon is an inner domain at EL1 beside Linux on arm64, which alone may change translation \
     state; Linux calls it through a gate. This page has what the project measures of it: what a \
     call costs, what becomes of Linux's operations and programs, and whether attacks are stopped. \
     All costs are instructions in an emulator, not time, unless a section says otherwise.";

/// How it is measured.
pub fn method() -> Section {
    let mut section = Section::new("method", "Method");
    section.add(Block::List(
        [
            "Each comparison is between two kernels of one source and configuration. In the \
             native one the protection is compiled out, and there is no inner domain.",
            "Instructions are counted by PMCCNTR_EL0 in the guest. QEMU runs with \
             `-icount shift=0`, where each instruction takes one nanosecond of the guest's time. \
             The null calls are exact: their standard deviation is 0. Whole operations differ from \
             boot to boot: two runs of programs were at most 0.10 % apart, but for redis and \
             PostgreSQL, whose figures were up to 1.18 % apart. `cargo xtask report --compare` says how far \
             two runs are apart.",
            "Modes are ways to enter the inner domain. `asid` writes TCR_EL1 once in each \
             direction; `strict` takes two steps in each direction; `tlbi` invalidates the inner \
             mappings on the way out and needs no reserved ASID.",
            "LMBench's rows are means over several places at which the stack begins in its page, \
             since that place alone moves some rows by percents. Whiskers show the standard \
             deviation over these places. The native kernel varies with them as well.",
            "Programs are counted in a short and a long run; the difference, by units of work, \
             leaves their start out.",
            "An attack counts as stopped if its effect is absent and the auditor, which looks from \
             outside with code of its own, finds no violation. A control is the same attack over a \
             build without the protection; it has to succeed.",
        ]
        .map(str::to_owned)
        .to_vec(),
    ));
    section
}

/// How not to read it.
pub fn caveats() -> Section {
    let mut section = Section::new("caveats", "Caveats");
    section.add(Block::List(
        [
            "Instructions are not time. A write of TCR_EL1 or an ISB counts as one, and costs many \
             cycles on silicon. Cache and TLB misses do not show at all.",
            "No Arm hardware was available. QEMU's wall time is that of an emulator, which drops \
             its whole TLB at each write of TCR_EL1; it says nothing about silicon.",
            "Published figures are times on other machines, systems and versions of Linux. They \
             stand beside ours for orientation; a difference between the two columns is no \
             measurement.",
            "Null system calls are shorter under Donjon than natively, because the native kernel \
             switches the work-around for speculative stores at each entry. That is a difference \
             of configuration, not a gain; LMBench's row `null, no ssbd switch` is without it.",
            "Where memory lies decides how many tables a process has. Addresses are not \
             randomized here; another program, kernel or amount of memory gives other counts.",
            "What calls, operations and programs cost was counted on one CPU. `tlbi` invalidates \
             more with more CPUs.",
            "An attack that is not in the list is not tried. Side channels and availability are not \
             protected, nor is memory against DMA with --dma open; docs/caveats.md has the whole list.",
        ]
        .map(str::to_owned)
        .to_vec(),
    ));
    section
}
