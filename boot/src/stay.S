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

// A CPU that PSCI switched on, at EL2 or EL1 with the MMU off. No other code enters the machine:
// the firmware is the inner domain's to call, and Linux cannot name this page. It goes on at the
// inner domain's `donjon_arrive`, which knows what the CPU is for.
    .global boot_secondary
boot_secondary:
    mrs     x1, currentel
    cmp     x1, #(2 << 2)
    b.ne    boot_secondary_el1
    leave_el2 boot_secondary_el1
boot_secondary_el1:
    msr     daifset, #0xf
    clear_extensions
    adr     x4, boot_arrival
    ldp     x5, x6, [x4]
    ldp     x7, x8, [x4, #16]
    ldr     x9, .Lstay_mair
    ldr     x10, .Lstay_tcr
    msr     mair_el1, x9
    msr     tcr_el1, x10
    msr     ttbr0_el1, x5
    msr     ttbr1_el1, x6
    isb
    // TLB and instruction cache hold anything at all after a reset.
    tlbi    vmalle1
    ic      iallu
    dsb     nsh
    isb
    msr     sctlr_el1, x7
    isb
    br      x8

    .balign 8
.Lstay_mair:
    .quad   {MAIR}
.Lstay_tcr:
    .quad   {TCR_ARRIVAL}
    .balign 32
    .global boot_arrival
boot_arrival:
    .space  {ARRIVAL_SIZE}              // abi: boot_info.rs, Arrival; written once
