// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What stays of the boot stage: a page that is withheld from Linux.

    .section .stay, "ax"

// EL2, after everybody has left it. An HVC, where it is not undefined, is answered with -1
// (not supported). Anything else repeats the instruction that trapped: that CPU hangs.
    .balign 2048
    .global boot_el2_vectors
boot_el2_vectors:
.rept 16
    .balign 128
    movn    x0, #0
    eret
.endr
    .balign 128

// A CPU that PSCI switched on. x0: where to go on, a physical address of Linux.
    .global boot_secondary
boot_secondary:
    mov     x19, x0
    mrs     x1, currentel
    cmp     x1, #(2 << 2)
    b.ne    boot_secondary_el1
    leave_el2 boot_secondary_el1
boot_secondary_el1:
    mov     x0, xzr
    mov     x1, xzr
    mov     x2, xzr
    mov     x3, xzr
    br      x19
