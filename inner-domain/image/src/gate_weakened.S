// SPDX-License-Identifier: MIT OR Apache-2.0
// What the gate of a test build does in place of a check: macros that a product build leaves out.

// Without NARROW: a gate that forgets to narrow.
.macro wide_out
    .equ    OUT, {WIDE}
.endm

// Without LATE_TLBI: the invalidation, while the range is still wide. Fetching these very words
// fills the TLB again.
.macro early_tlbi
    adr     x10, .Ltlbi_list
    ldr     x11, [x10], #8
4:  tlbi    vaae1, x11
    ldr     x11, [x10], #8
    cbnz    x11, 4b
    dsb     nsh
    isb
.endm
