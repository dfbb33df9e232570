// SPDX-License-Identifier: MIT OR Apache-2.0
// A CPU that was switched on reaches the inner domain: from the page that stays (boot/src/stay.S),
// in the inner view, with the MMU on and the lower range mapping that page alone. The only way a
// CPU starts or comes back.

    .section .text.arrival, "ax"
    .global donjon_arrive
donjon_arrive:
    msr     daifset, #0xf
    // No walks of the lower range any more, and nothing of it in the TLB.
    movz    x10, #(({INNER}) & 0xffff)
    movk    x10, #((({INNER}) >> 16) & 0xffff), lsl #16
    movk    x10, #((({INNER}) >> 32) & 0xffff), lsl #32
    msr     tcr_el1, x10
    isb
    tlbi    vmalle1
    // Nor of text that changed while this CPU was off.
    ic      iallu
    dsb     nsh
    isb
    // Linux runs with SP_EL1.
    msr     spsel, #1
    mrs     x10, mpidr_el1
    orr     x10, x10, x10, lsr #{CPU_INDEX_SHIFT}
    and     x10, x10, #{CPU_INDEX_MASK}
    adrp    x7, donjon_cpu_blocks
    add     x7, x7, x10, lsl #{STACK_STRIDE_SHIFT}
    mov     sp, x7
    sub     sp, sp, #32
    bl      donjon_arrived              // x0: where to go on, in the outer view
    // It leaves like a call: no stack, all exceptions masked, no arguments.
    stp     xzr, x0, [sp]
    mov     x9, #0x3c0
    str     x9, [sp, #16]
    // The gate clears what a call may change. These are still the inner domain's own, on a CPU that
    // was parked by a call that does not return.
    .irp    n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
    mov     x\n, xzr
    .endr
    mov     x0, xzr
    mov     x1, xzr
    b       donjon_gate_return
