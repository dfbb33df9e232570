// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The entry as a UEFI program, and the way out of the firmware's address space. Both run in the
// mapping that the firmware has made, virtual equal to physical (UEFI 2.10, 2.3.6).

    .section .text.efi, "ax"

// x0: image handle, x1: system table. A return goes back to the firmware with the status in x0.
    .global efi_entry
efi_entry:
    stp     x29, x30, [sp, #-16]!
    mov     x29, sp
    adrp    x2, _start
    add     x2, x2, :lo12:_start
    // Relocates the image. The addends are in the table, so relocating again elsewhere is right.
    adrp    x3, boot_rela_start
    add     x3, x3, :lo12:boot_rela_start
    adrp    x4, boot_rela_end
    add     x4, x4, :lo12:boot_rela_end
1:  cmp     x3, x4
    b.hs    2f
    ldp     x5, x6, [x3]
    ldr     x7, [x3, #16]
    add     x3, x3, #24
    cmp     w6, #1027
    b.ne    1b
    add     x7, x7, x2
    str     x7, [x2, x5]
    b       1b
2:  bl      efi_main
    ldp     x29, x30, [sp], #16
    ret

// x0: device tree, x1: boot_entry of the copy. What is read from here on with the MMU off was
// cleaned to memory, these instructions included. The exception level stays; boot_entry leaves EL2.
    .global efi_leave
efi_leave:
    msr     daifset, #0xf
    dsb     sy
    mov     x4, x1
    mrs     x2, currentel
    cmp     x2, #(2 << 2)
    b.eq    3f
    mrs     x2, sctlr_el1
    bic     x2, x2, #(1 << 0)           // M
    bic     x2, x2, #(1 << 2)           // C
    bic     x2, x2, #(1 << 12)          // I
    msr     sctlr_el1, x2
    b       4f
3:  mrs     x2, sctlr_el2
    bic     x2, x2, #(1 << 0)
    bic     x2, x2, #(1 << 2)
    bic     x2, x2, #(1 << 12)
    msr     sctlr_el2, x2
4:  isb
    ic      iallu
    dsb     sy
    isb
    mov     x1, xzr
    mov     x2, xzr
    mov     x3, xzr
    br      x4
    .global efi_leave_end
efi_leave_end:
