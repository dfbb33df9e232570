// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The gate: the only way into the inner domain and the only way out.
//
// It has three parts. `enter` and `leave` are in the gate page, the one page of ours that both
// views map executable; `inner` is in the last page before it, which the inner view alone has.
//
//     caller: blr GATE_ENTRY
//       enter   mask, write TCR_EL1 (inner), ISB, compare, go to the inner part
//       inner   stack by MPIDR_EL1, count, call the function, clear, write TCR_EL1 (outer)
//       ------- root slot 63 ends, slot 64 begins
//       leave   ISB, unmask, return
//
// Registers: x0 function number, then status. x1 to x6 arguments, then x1 value. x18 is scratch
// of gate and vectors (the kernel is built with -ffixed-x18). x19 to x29 are the callee's to
// save; SP, x30 and DAIF are put back. On the way out x9 and x10 hold the caller's own DAIF and SP,
// or a public constant; NZCV is cleared, in mode strict that of an equal comparison; all other
// registers are cleared.
//
// What an attacker may assume: arbitrary register contents at every instruction of the gate
// page, interrupts and debug exceptions open, both stack pointers anywhere, hostile memory.
//
// References are to the Arm Architecture Reference Manual, DDI 0487.

// A 64-bit constant whose upper 16 bits are zero, from immediates alone.
.macro constant register, value
    movz    \register, #((\value) & 0xffff)
    movk    \register, #(((\value) >> 16) & 0xffff), lsl #16
    movk    \register, #(((\value) >> 32) & 0xffff), lsl #32
.endm

.if {STRICT}
    // First step in, last step out: the reserved ASID is current, the range is narrow.
    .equ    FIRST_IN, {STRICT_MIDDLE}
    .equ    FIRST_OUT, {STRICT_MIDDLE}
.else
    .equ    FIRST_IN, {INNER}
    .equ    FIRST_OUT, {OUTER}
.endif
.if {NARROW}
    .equ    OUT, FIRST_OUT
.else
    wide_out
.endif

// ---------------------------------------------------------------------------------------------
    .section .gate.inner, "ax"
    // A page of traps that ends with the code below: 55 words, in mode strict one less. The
    // linker script checks the sum.
    .rept 1024 - 55 + {STRICT} - 7 * {EARLY_TLBI}
    udf     #0
    .endr

// Not a number of the core: unknown, or the stop after a mismatch. Rust decides. Never counted
// by the code below, whose table has no entry for it.
donjon_gate_other:
    // For a panic report: the registers as they are before Rust uses them (per_cpu.rs: saved).
    add     x11, x7, #{SAVED_REGISTERS}
    stp     x1, x2, [x11]
    stp     x3, x4, [x11, #16]
    stp     x5, x6, [x11, #32]
    stp     x8, x10, [x11, #48]
    stp     x12, x13, [x11, #64]
    stp     x14, x15, [x11, #80]
    stp     x16, x17, [x11, #96]
    stp     x19, x20, [x11, #112]
    stp     x21, x22, [x11, #128]
    stp     x23, x24, [x11, #144]
    stp     x25, x26, [x11, #160]
    stp     x27, x28, [x11, #176]
    stp     x29, x30, [x11, #192]
    bl      donjon_other_call
    b       donjon_gate_return

    .global donjon_gate_inner
donjon_gate_inner:
    // The stack belongs to this CPU because MPIDR_EL1 says so, which software at EL1 cannot
    // write; TPIDR_EL1 and the stack pointers are the outer domain's to choose. The boot stage
    // has checked that no two CPUs share an index (abi: layout::cpu_index).
    mrs     x10, mpidr_el1
    orr     x10, x10, x10, lsr #{CPU_INDEX_SHIFT}
    and     x10, x10, #{CPU_INDEX_MASK}
    adrp    x7, donjon_cpu_blocks
    add     x7, x7, x10, lsl #{STACK_STRIDE_SHIFT}
    // Whichever SP is selected: SP_EL0 serves as well, and comes back as it was. Taking an
    // exception here would end in the vectors' comparison, not on a stack.
    mov     x10, sp
    mov     sp, x7
    stp     x10, x30, [sp, #-32]!
    str     x9, [sp, #16]

    cmp     x0, #{CORE_FUNCTIONS}
    b.hs    donjon_gate_other
    ldr     x10, [x7, x0, lsl #3]       // calls of this function on this CPU
    add     x10, x10, #1
    str     x10, [x7, x0, lsl #3]
    adrp    x11, donjon_call_table      // begins a page
    ldr     x11, [x11, x0, lsl #3]
    blr     x11                         // x0..x6 as they came, x7 the CPU block

donjon_gate_return:
    ldr     x9, [sp, #16]
    ldp     x10, x30, [sp]
    mov     sp, x10

    // What the function left behind is the inner domain's business. x0 and x1 are the result,
    // x9, x10, x30 the caller's own DAIF, SP and return address, x18 becomes a public constant.
    .irp    n, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16, 17
.if {CLEAR}
    mov     x\n, xzr
.else
    nop
.endif
    .endr
.if !{STRICT}
    msr     nzcv, xzr
.endif

    constant x18, OUT
.if {EARLY_TLBI}
    early_tlbi
.endif
    // The exit write is the last word of the inner-only slot. Its ISB is the first word of the next
    // slot, which both views map: fetching it is right before and after the change takes effect (a
    // write of a system register is guaranteed to be seen only after a context synchronization
    // event, D24.1.2.2). The outer view cannot fetch the write itself: its root entry is invalid
    // there, so no jump reaches it with another value.
    .global donjon_gate_exit_write
donjon_gate_exit_write:
    msr     tcr_el1, x18
    .global donjon_gate_inner_end
donjon_gate_inner_end:

// ---------------------------------------------------------------------------------------------
    .section .gate.page, "ax"
    .global donjon_gate_page
donjon_gate_page:

    .global donjon_gate_leave
donjon_gate_leave:
    isb
.if {STRICT}
    // Second step out: back to the user's ASID. This write can be reached from outside with any
    // value, so it is compared like the one on the way in.
    ldr     x18, .Louter
    msr     tcr_el1, x18
    isb
    mrs     x18, tcr_el1
    ldr     x10, .Louter
    cmp     x18, x10                    // leaves flags that tell nothing
.if {COMPARE_EXIT}
    b.ne    donjon_gate_repair
.endif
.endif
.if {TLBI} && !{EARLY_TLBI}
    // The ASID is the user's throughout, so what the TLB learned in the wide view would still
    // hit. After the narrowing and its ISB no walk can fetch it again; before, a walk could
    // refill behind the invalidation (R_SQBCS: speculative walks at any time). By VA, all
    // ASIDs, this CPU alone (sufficient because CnP is 0), and complete before the return. An
    // empty list stands for more mappings than it has room for: everything goes.
    adr     x10, .Ltlbi_list
    ldr     x11, [x10], #8
    cbz     x11, 3f
1:  tlbi    vaae1, x11
    ldr     x11, [x10], #8
    cbnz    x11, 1b
2:  dsb     nsh
    isb
.endif
    msr     daif, x9
    ret
.if {TLBI} && !{EARLY_TLBI}
3:  tlbi    vmalle1
    b       2b
.endif
    .global donjon_gate_leave_end
donjon_gate_leave_end:

    .org    donjon_gate_page + {ENTRY}
    .global donjon_gate_enter
donjon_gate_enter:
    // Nothing may interrupt between here and the return: vectors and handlers are Linux's. D, A,
    // I and F cover every asynchronous exception of a CPU without FEAT_NMI; one more would find the
    // vectors' comparison and stop the machine.
    mrs     x9, daif
    msr     daifset, #0xf
.Lbuild:
    constant x18, FIRST_IN
    // The one forgeable write (in mode strict one of three). No load or store until the ISB.
    .global donjon_gate_entry_write
donjon_gate_entry_write:
    msr     tcr_el1, x18
    isb
.if {STRICT}
    // Compared before the next write could hide what was forged in this one.
    mrs     x18, tcr_el1
    ldr     x10, .Lmiddle
    cmp     x18, x10
.if {COMPARE_FIRST}
    b.ne    donjon_gate_repair
.endif
    movk    x18, #(({INNER} >> 16) & 0xffff), lsl #16
    msr     tcr_el1, x18
    isb
.endif
    // All 64 bits, because any of them may matter: TG1, HPD1, HA/HD, IRGN, TBI. The literal is
    // in this page, and whatever geometry was forged, this page's address leads to this page or
    // to a fault (docs/design.md, forged geometry; checked by the host).
    mrs     x18, tcr_el1
    ldr     x10, .Linner
    cmp     x18, x10
.if {COMPARE}
    b.ne    donjon_gate_repair
.endif
    // Once more, for a jump to a place behind the first one.
.if {MASK}
    msr     daifset, #0xf
.endif
    tbnz    x0, #63, .Lflush
    b       donjon_gate_inner
    .global donjon_gate_enter_end
donjon_gate_enter_end:

    // A stop after a mismatch. While the forged value stood, walks may have left entries that
    // the right value would never make: inner pages under the user's ASID, hostile pages under
    // the reserved one (R_VNRFW). Drop them before the inner domain relies on a translation.
.Lflush:
    tlbi    vmalle1
    dsb     nsh
    isb
    b       donjon_gate_inner

    .balign 8
.Linner:
    .quad   {INNER}
.Louter:
    .quad   {OUTER}
.Lmiddle:
    .quad   {STRICT_MIDDLE}

    .org    donjon_gate_page + {REPAIR}
    .global donjon_gate_repair
donjon_gate_repair:
    // From a vector or from the comparisons above: TCR_EL1 is not what it should be. This CPU
    // never returns to Linux, so registers that Linux relies on can keep what the panic report
    // wants: x0 in TPIDR_EL1, the bad value in TPIDR_EL0. The write above repairs it.
    msr     daifset, #0xf
    msr     tpidr_el1, x0
    mrs     x18, tcr_el1
    msr     tpidr_el0, x18
    movz    x0, #({REASON} & 0xffff)
    movk    x0, #(({REASON} >> 16) & 0xffff), lsl #16
    movk    x0, #(({REASON} >> 32) & 0xffff), lsl #32
    movk    x0, #(({REASON} >> 48) & 0xffff), lsl #48
    b       .Lbuild

    .org    donjon_gate_page + {TLBI_LIST}
.Ltlbi_list:
    .quad   0
    .org    donjon_gate_page + 4096
