// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Enters a program at EL0 and comes back with its next exception.
//
// While it runs, VBAR_EL1 leads to the vectors below, which stand in the inner-only slot: no
// instruction of Linux runs between the program and the moment at which its memory is out of reach.
//
// What changes, in this order (docs/compartments.md says why):
//   in    TTBR0_EL1, VBAR_EL1 and the rest; ISB; TCR_EL1; ERET
//   out   TCR_EL1; ISB; VBAR_EL1, TTBR0_EL1 and the rest; ISB
// So with A1 = 0 and the wide range, the ASID is the compartments', which is never current in the
// outer view.
//
// References are to the Arm Architecture Reference Manual, DDI 0487.

    .arch_extension fp
    .arch_extension simd

// All registers of FP and SIMD, to x9 or from there.
.macro store_simd
    stp     q0, q1, [x9], #32
    stp     q2, q3, [x9], #32
    stp     q4, q5, [x9], #32
    stp     q6, q7, [x9], #32
    stp     q8, q9, [x9], #32
    stp     q10, q11, [x9], #32
    stp     q12, q13, [x9], #32
    stp     q14, q15, [x9], #32
    stp     q16, q17, [x9], #32
    stp     q18, q19, [x9], #32
    stp     q20, q21, [x9], #32
    stp     q22, q23, [x9], #32
    stp     q24, q25, [x9], #32
    stp     q26, q27, [x9], #32
    stp     q28, q29, [x9], #32
    stp     q30, q31, [x9]
.endm
.macro load_simd
    ldp     q0, q1, [x9], #32
    ldp     q2, q3, [x9], #32
    ldp     q4, q5, [x9], #32
    ldp     q6, q7, [x9], #32
    ldp     q8, q9, [x9], #32
    ldp     q10, q11, [x9], #32
    ldp     q12, q13, [x9], #32
    ldp     q14, q15, [x9], #32
    ldp     q16, q17, [x9], #32
    ldp     q18, q19, [x9], #32
    ldp     q20, q21, [x9], #32
    ldp     q22, q23, [x9], #32
    ldp     q24, q25, [x9], #32
    ldp     q26, q27, [x9], #32
    ldp     q28, q29, [x9], #32
    ldp     q30, q31, [x9]
.endm

// A constant of 48 bits.
.macro constant48 register, value
    movz    \register, #((\value) & 0xffff)
    movk    \register, #(((\value) >> 16) & 0xffff), lsl #16
    movk    \register, #(((\value) >> 32) & 0xffff), lsl #32
.endm

    // What is kept on the stack.
    .equ    K_CONTEXT, 0
    .equ    K_CPACR, 8
    .equ    K_TTBR0, 16
    .equ    K_VBAR, 24
    .equ    K_SCTLR, 32
    .equ    K_SP_EL0, 40
    .equ    K_TPIDR, 48
    .equ    K_TPIDRRO, 56
    .equ    K_MDSCR, 64
    .equ    K_HAS_KEY, 72
    .equ    K_FPSR, 80
    .equ    K_GENERAL, 96
    .equ    K_KEY, 192
    .equ    K_Q, 208
    .equ    K_SIZE, 720

    .section .text.context, "ax"
    // x0 the context, x1 TTBR0_EL1, x2 whether to invalidate, x3 whether a call begins: all
    // registers but x0 to x3 are zero then; x4 whether this CPU has the key of PACGA. Gives 0 for a
    // synchronous exception, 1 for an interrupt, 2 for an SError, 3 when a call is over: of its
    // registers the context has x0 alone.
    .global donjon_context_run
donjon_context_run:
    sub     sp, sp, #K_SIZE
    stp     x19, x20, [sp, #K_GENERAL]
    stp     x21, x22, [sp, #K_GENERAL + 16]
    stp     x23, x24, [sp, #K_GENERAL + 32]
    stp     x25, x26, [sp, #K_GENERAL + 48]
    stp     x27, x28, [sp, #K_GENERAL + 64]
    stp     x29, x30, [sp, #K_GENERAL + 80]
    mrs     x9, cpacr_el1
    mrs     x10, ttbr0_el1
    mrs     x11, vbar_el1
    mrs     x12, sctlr_el1
    mrs     x13, sp_el0
    mrs     x14, tpidr_el0
    mrs     x15, tpidrro_el0
    mrs     x16, mdscr_el1
    stp     x0, x9, [sp, #K_CONTEXT]
    stp     x10, x11, [sp, #K_TTBR0]
    stp     x12, x13, [sp, #K_SCTLR]
    stp     x14, x15, [sp, #K_TPIDR]
    stp     x16, x4, [sp, #K_MDSCR]     // and K_HAS_KEY

    // Linux's registers of FP and SIMD: kept here, which takes less than to have Linux save them.
    // FPEN for EL0 and EL1; ZEN and SMEN are 0, so that SVE and SME trap
    // (D24.2, CPACR_EL1).
.if {VECTOR_LENGTH}
    movz    x13, #0x30, lsl #16
.else
    movz    x13, #0x333, lsl #16
.endif
    msr     cpacr_el1, x13
    isb
    mrs     x14, fpsr
    mrs     x15, fpcr
    stp     x14, x15, [sp, #K_FPSR]
    add     x9, sp, #K_Q
    store_simd

    cbz     x2, 1f
    // Another program was here. Its entries have the same ASID, which is not current now.
    movz    x9, #{ASID}, lsl #48
    tlbi    aside1, x9
    dsb     nsh
    isb
1:
.if {CONTEXT_DEBUG}
    // Breakpoints, watchpoints and single steps are Linux's to arm: none of them here. TDCC keeps
    // EL0 from the debugger's channel.
    movz    x9, #0x1000
    msr     mdscr_el1, x9
.endif
    movz    x9, #(({SCTLR_OFF}) & 0xffff)
    movk    x9, #((({SCTLR_OFF}) >> 16) & 0xffff), lsl #16
    movk    x9, #((({SCTLR_OFF}) >> 32) & 0xffff), lsl #32
    movk    x9, #((({SCTLR_OFF}) >> 48) & 0xffff), lsl #48
    bic     x12, x12, x9
    msr     sctlr_el1, x12
    msr     ttbr0_el1, x1
    adr     x9, donjon_context_vectors
    msr     vbar_el1, x9
    ldp     x9, x10, [x0, #{SP}]
    ldp     x11, x12, [x0, #{PC} + 8]
    msr     sp_el0, x9
    msr     elr_el1, x10
    msr     spsr_el1, x11
    msr     tpidr_el0, x12
    msr     tpidrro_el0, xzr
    cbz     x4, 3f
    // APGAKeyLo_EL1 and APGAKeyHi_EL1. Nothing enables or traps PACGA here.
    mrs     x9, s3_0_c2_c3_0
    mrs     x10, s3_0_c2_c3_1
    stp     x9, x10, [sp, #K_KEY]
    ldp     x9, x10, [x0, #{KEY}]
    msr     s3_0_c2_c3_0, x9
    msr     s3_0_c2_c3_1, x10
3:
    // All of that, with the reserved ASID current and no walks of the lower range, before the next
    // write (D24.1.2.2).
    isb
    ldp     x9, x10, [x0, #{FPSR}]
    msr     fpsr, x9
    msr     fpcr, x10
    cbnz    x3, 2f
    add     x9, x0, #{Q}
    load_simd
    constant48 x9, {INSIDE}
    msr     tcr_el1, x9
    // ERET is a context synchronization event (SCTLR_EL1.EOS is 1).
    ldp     x2, x3, [x0, #16]
    ldp     x4, x5, [x0, #32]
    ldp     x6, x7, [x0, #48]
    ldp     x8, x9, [x0, #64]
    ldp     x10, x11, [x0, #80]
    ldp     x12, x13, [x0, #96]
    ldp     x14, x15, [x0, #112]
    ldp     x16, x17, [x0, #128]
    ldp     x18, x19, [x0, #144]
    ldp     x20, x21, [x0, #160]
    ldp     x22, x23, [x0, #176]
    ldp     x24, x25, [x0, #192]
    ldp     x26, x27, [x0, #208]
    ldp     x28, x29, [x0, #224]
    ldr     x30, [x0, #240]
    ldp     x0, x1, [x0]
    eret
    // No speculation past it.
    dsb     nsh
    isb

    // A call begins.
2:
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    movi    v\n\().2d, #0
    .endr
    constant48 x9, {INSIDE}
    msr     tcr_el1, x9
    ldp     x2, x3, [x0, #16]
    ldp     x0, x1, [x0]
    .irp    n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    mov     x\n, xzr
    .endr
    eret
    dsb     nsh
    isb

    // The call is over: nothing of it but x0 counts any more.
donjon_context_returned:
    ldr     x3, [sp], #16
    stp     xzr, xzr, [sp, #-16]
    mov     x2, #3
    str     x3, [x0]
    constant48 x9, {INNER}
    msr     tcr_el1, x9
    isb
    b       5f

    // x0 the context, x2 what to give back; x0 and x1 of the program on the stack, x2 and x3 saved.
donjon_context_left:
    stp     x4, x5, [x0, #32]
    stp     x6, x7, [x0, #48]
    stp     x8, x9, [x0, #64]
    stp     x10, x11, [x0, #80]
    stp     x12, x13, [x0, #96]
    stp     x14, x15, [x0, #112]
    stp     x16, x17, [x0, #128]
    stp     x18, x19, [x0, #144]
    stp     x20, x21, [x0, #160]
    stp     x22, x23, [x0, #176]
    stp     x24, x25, [x0, #192]
    stp     x26, x27, [x0, #208]
    stp     x28, x29, [x0, #224]
    ldp     x3, x4, [sp], #16
    stp     xzr, xzr, [sp, #-16]        // Masked: nothing else is there, and nothing comes.
    str     x30, [x0, #240]
    stp     x3, x4, [x0]
    constant48 x9, {INNER}
    msr     tcr_el1, x9
    isb
    mrs     x9, sp_el0
    mrs     x10, elr_el1
    mrs     x11, spsr_el1
    mrs     x12, tpidr_el0
    mrs     x13, esr_el1
    mrs     x14, far_el1
    mrs     x15, fpsr
    mrs     x16, fpcr
    stp     x9, x10, [x0, #{SP}]
    stp     x11, x12, [x0, #{PC} + 8]
    stp     x15, x16, [x0, #{FPSR}]
    stp     x13, x14, [x0, #{ESR}]
    add     x9, x0, #{Q}
    store_simd
5:
.if {SCRUB}
    add     x9, sp, #K_Q
    load_simd
.endif
    ldp     x14, x15, [sp, #K_FPSR]
    msr     fpsr, x14
    msr     fpcr, x15
    ldp     x9, x10, [sp, #K_CPACR]     // and TTBR0_EL1
    ldp     x11, x12, [sp, #K_VBAR]     // and SCTLR_EL1
    ldp     x13, x14, [sp, #K_SP_EL0]   // and TPIDR_EL0
    ldp     x15, x16, [sp, #K_TPIDRRO]  // and MDSCR_EL1
    msr     cpacr_el1, x9
.if {LINUX_ROOT}
    msr     ttbr0_el1, x10
.endif
    msr     vbar_el1, x11
    msr     sctlr_el1, x12
    msr     sp_el0, x13
    msr     tpidr_el0, x14
    msr     tpidrro_el0, x15
    msr     mdscr_el1, x16
    ldr     x9, [sp, #K_HAS_KEY]
    cbz     x9, 6f
    ldp     x9, x10, [sp, #K_KEY]
    msr     s3_0_c2_c3_0, x9
    msr     s3_0_c2_c3_1, x10
6:
.if {SCRUB}
    // Where it was, its flags, and what it accessed.
    msr     elr_el1, xzr
    msr     spsr_el1, xzr
    msr     esr_el1, xzr
    msr     far_el1, xzr
.endif
    isb
    mov     x0, x2
    ldp     x19, x20, [sp, #K_GENERAL]
    ldp     x21, x22, [sp, #K_GENERAL + 16]
    ldp     x23, x24, [sp, #K_GENERAL + 32]
    ldp     x25, x26, [sp, #K_GENERAL + 48]
    ldp     x27, x28, [sp, #K_GENERAL + 64]
    ldp     x29, x30, [sp, #K_GENERAL + 80]
    add     sp, sp, #K_SIZE
    ret

// An exception of the inner domain itself: the same end as by Linux's vectors.
.macro own_exception
    .balign 128
    adrp    x18, donjon_gate_page
    add     x18, x18, :lo12:donjon_gate_repair
    br      x18
.endm

// An exception of the program.
.macro left kind
    .balign 128
    stp     x0, x1, [sp, #-16]!
    ldr     x0, [sp, #16 + K_CONTEXT]
    stp     x2, x3, [x0, #16]
.if \kind == 0
    mrs     x1, esr_el1
    movz    x2, #(({RETURN}) >> 16), lsl #16
    cmp     x1, x2
    b.eq    donjon_context_returned
.endif
    mov     x2, #\kind
    b       donjon_context_left
.endm

    .balign 2048
donjon_context_vectors:
    .rept   8
    own_exception
    .endr
    left    0
    left    1
    left    1
    left    2
    // AArch32 at EL0 is never entered: PSTATE.M is ours.
    .rept   4
    own_exception
    .endr
    .balign 128
