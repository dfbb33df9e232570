// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The first instructions: an arm64 Image header, which is that of a PE file as well, then from
// wherever the loader left the CPU (EL1 or EL2, MMU off) to Rust at EL1 with the MMU and caches on.

    .section .head, "ax"
    .global _start
_start:
    add     x13, x18, #22               // its bytes begin with MZ, and x13 has no meaning yet
    b       boot_entry
    .quad   0                           // text_offset: at any 2 MiB boundary
    .quad   0                           // image_size: the packer fills it in
    .quad   0xa                         // little-endian, 4 KiB pages, anywhere in memory
    .quad   0
    .quad   0
    .quad   0
    .ascii  "ARM\x64"
    .long   {PE_OFFSET}                 // where the PE header is
    .global boot_manifest
boot_manifest:
    .space  {MANIFEST_SIZE}             // abi: manifest.rs; the packer fills it in
    .space  {PE_SIZE}                   // PE header; the packer fills it in

    .global boot_entry
boot_entry:
    mov     x19, x0                     // device tree
    mrs     x20, currentel
    lsr     x20, x20, #2
    cmp     x20, #2
    b.eq    1f
    b.lo    boot_at_el1
    // EL3 is firmware's; a loader that starts us there is broken, and nothing can print yet.
    b       .
1:  leave_el2 boot_at_el1

boot_at_el1:
    movz    x1, #0x0800
    movk    x1, #0x30d0, lsl #16
    msr     sctlr_el1, x1               // MMU and caches off, RES1 bits set
    isb
    clear_extensions
    msr     cpacr_el1, xzr

    adr     x21, _start
    // Zero the rest, then relocate: R_AARCH64_RELATIVE is the only kind in a static image.
    adrp    x1, boot_bss_start
    adrp    x2, boot_bss_end
2:  stp     xzr, xzr, [x1], #16
    cmp     x1, x2
    b.lo    2b
    adrp    x1, boot_rela_start
    add     x1, x1, :lo12:boot_rela_start
    adrp    x2, boot_rela_end
    add     x2, x2, :lo12:boot_rela_end
3:  cmp     x1, x2
    b.hs    4f
    ldp     x3, x4, [x1]
    ldr     x5, [x1, #16]
    add     x1, x1, #24
    cmp     w4, #1027
    b.ne    3b
    add     x5, x5, x21
    str     x5, [x21, x3]
    b       3b

    // An identity map of 512 blocks of 1 GiB: devices. The GiB of this image is a table of blocks
    // of 2 MiB, in which the image and the device tree alone are memory, because registers may
    // be in the same GiB. The blocks that the image runs on never change again.
4:  adrp    x1, boot_table_l1
    adrp    x2, boot_table_l0
    orr     x3, x1, #3
    str     x3, [x2]
    mov     x3, #{DEVICE_BLOCK_LOW}
    movk    x3, #{DEVICE_BLOCK_HIGH}, lsl #48
    mov     x4, #512
    mov     x5, #(1 << 30)
5:  str     x3, [x1], #8
    add     x3, x3, x5
    subs    x4, x4, #1
    b.ne    5b
    adrp    x1, boot_table_l1
    adrp    x6, boot_table_l2
    lsr     x4, x21, #30
    ldr     x3, [x1, x4, lsl #3]        // its block, for devices
    orr     x7, x6, #3
    str     x7, [x1, x4, lsl #3]
    mov     x4, #512
    mov     x5, #(1 << 21)
    mov     x7, x6
51: str     x3, [x7], #8
    add     x3, x3, x5
    subs    x4, x4, #1
    b.ne    51b
    // From the image's first block to its last. image_size is 0 if the image was not packed.
    mov     x5, #{NORMAL_BLOCK_LOW}
    ldr     x7, [x21, #16]
    adrp    x8, boot_end
    sub     x8, x8, x21
    cmp     x7, x8
    csel    x7, x7, x8, hs
    add     x7, x7, x21
    sub     x7, x7, #1
    lsr     x7, x7, #21                 // the last block
    lsr     x4, x21, #21
52: and     x8, x4, #0x1ff
    lsl     x3, x4, #21
    orr     x3, x3, x5
    str     x3, [x6, x8, lsl #3]
    add     x4, x4, #1
    tst     x4, #0x1ff
    b.eq    53f                         // the rest is in the next GiB
    cmp     x4, x7
    b.ls    52b
    b       54f
53: cmp     x4, x7
    b.hi    54f
    lsr     x4, x4, #9
    lsl     x3, x4, #30
    orr     x3, x3, x5
    str     x3, [x1, x4, lsl #3]
    // The device tree, of at most 2 MiB: in the same GiB two blocks, elsewhere a GiB.
54: lsr     x4, x19, #30
    and     x4, x4, #0x1ff
    lsr     x7, x21, #30
    cmp     x4, x7
    b.ne    55f
    lsr     x4, x19, #21
    lsl     x3, x4, #21
    orr     x3, x3, x5
    and     x4, x4, #0x1ff
    str     x3, [x6, x4, lsl #3]
    add     x4, x4, #1
    tbnz    x4, #9, 56f
    mov     x7, #(1 << 21)
    add     x3, x3, x7
    str     x3, [x6, x4, lsl #3]
    b       56f
55: lsl     x3, x4, #30
    orr     x3, x3, x5
    str     x3, [x1, x4, lsl #3]
56:

    // These stores went past the caches. Lines that a loader left there are clean (the boot
    // protocol asks for it) but may be stale.
    dsb     sy
    adr     x1, _start
    adrp    x2, boot_end
6:  dc      ivac, x1
    add     x1, x1, #16
    cmp     x1, x2
    b.lo    6b
    dsb     sy
    ic      iallu
    tlbi    vmalle1
    dsb     sy
    isb

    ldr     x1, .Lmair
    msr     mair_el1, x1
    ldr     x1, .Ltcr
    msr     tcr_el1, x1
    adrp    x1, boot_table_l0
    msr     ttbr0_el1, x1
    msr     ttbr1_el1, xzr
    adrp    x1, boot_vectors
    add     x1, x1, :lo12:boot_vectors
    msr     vbar_el1, x1
    isb
    movz    x1, #0x1805                 // M, C, I and the RES1 bits
    movk    x1, #0x30d0, lsl #16
    msr     sctlr_el1, x1
    isb
    msr     spsel, #1
    adrp    x1, boot_stack_end
    mov     sp, x1
    mov     x0, x19
    mov     x1, x21
    mov     x2, x20
    bl      boot_main

    // x0: device tree, x1: Linux. Secrets have been on the stack, which will be Linux's: zeros,
    // also in memory below the caches, which Linux could invalidate.
    msr     daifset, #0xf
    adrp    x2, boot_stack_start
    adrp    x3, boot_stack_end
1:  stp     xzr, xzr, [x2]
    dc      cvac, x2
    add     x2, x2, #16
    cmp     x2, x3
    b.lo    1b
    dsb     sy

    // As Linux's boot protocol wants it: MMU and data cache off, x1 to x3 zero. Rust has cleaned
    // everything that it reads. Nothing is left in the other registers.
    mov     x4, x1
    mrs     x2, sctlr_el1
    bic     x2, x2, #(1 << 0)
    bic     x2, x2, #(1 << 2)
    bic     x2, x2, #(1 << 12)
    msr     sctlr_el1, x2
    isb
    tlbi    vmalle1
    ic      iallu
    dsb     sy
    isb
    mov     x1, xzr
    mov     x2, xzr
    mov     x3, xzr
.irp n, 5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
    mov     x\n, xzr
.endr
    br      x4

    .balign 8
.Lmair:
    .quad   {MAIR}
.Ltcr:
    .quad   {TCR}                       // no walks of the upper range yet

// An exception in the boot stage: say so. x0 to x2 are lost, which are not needed any more.
    .balign 2048
boot_vectors:
.rept 16
    .balign 128
    mrs     x0, esr_el1
    mrs     x1, elr_el1
    mrs     x2, far_el1
    b       boot_exception
.endr

    .section .bss.boot, "aw", @nobits
    .balign 4096
    .global boot_table_l0
boot_table_l0:
    .space  4096
    .global boot_table_l1
boot_table_l1:
    .space  4096
    .global boot_table_l2
boot_table_l2:
    .space  4096
// Too deep a stack runs into the tables above this line. Rust looks whether its lowest page is
// still zero (`check_stack()` in entry.rs).
    .global boot_stack_start
boot_stack_start:
    .space  131072
boot_stack_end:
