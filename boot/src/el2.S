// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Leaving EL2, the same way on every CPU. Included by the two entries; uses x1 to x3.
//
// Afterwards EL2 holds nothing that the outer domain could call or that acts on its behalf.
// Reset values of most of these registers are UNKNOWN (DDI 0487, D24.2), so each is written.

// Go on at \target, at EL1 with the MMU off and all exceptions masked.
.macro leave_el2 target
    // Plain EL2: MMU off, little-endian, RES1 bits set.
    movz    x1, #0x0830
    movk    x1, #0x30c5, lsl #16
    msr     sctlr_el2, x1
    // RW: EL1 is AArch64. SWIO: DC ISW cleans, too, so no set/way operation throws data away.
    // TIDCP: IMPLEMENTATION DEFINED registers trap. HCD: HVC is undefined (where there is no
    // EL3; elsewhere the vectors below answer it). API, APK: pointer authentication does not trap.
    // Everything else, VHE and stage 2 included, off.
    movz    x1, #0x0002
    movk    x1, #0xa010, lsl #16
    movk    x1, #0x0300, lsl #32
    msr     hcr_el2, x1
    isb                                 // E2H decides the layout of some registers below
    msr     vttbr_el2, xzr
    msr     hstr_el2, xzr
    // No access to IMPLEMENTATION DEFINED controls (CPUECTLR.SMPEN, CPUACTLR) from EL1.
    msr     actlr_el2, xzr
    // EL1 has the timers; no offset between physical and virtual time.
    mov     x1, #3
    msr     cnthctl_el2, x1
    msr     cntvoff_el2, xzr
    // MPIDR_EL1 as EL1 reads it chooses the inner stack: it is this register, and it must be
    // the CPU's own.
    mrs     x1, mpidr_el1
    msr     vmpidr_el2, x1
    mrs     x1, midr_el1
    msr     vpidr_el2, x1

    // MDCR: EL1 has all event counters (HPMN = PMCR.N) and no profiling or trace buffer
    // (E2PB, E2TB 0); debug exceptions stay at EL1 (TDE 0).
    mrs     x2, id_aa64dfr0_el1
    ubfx    x2, x2, #8, #4
    mov     x1, xzr
    cbz     x2, 1f
    cmp     x2, #0xf
    b.eq    1f
    mrs     x1, pmcr_el0
    ubfx    x1, x1, #11, #5
1:  msr     mdcr_el2, x1

    // FP and SIMD at EL1; SVE where there is SVE, with its full length; SME stays trapped.
    movz    x1, #0x33ff
    mrs     x2, id_aa64pfr0_el1
    ubfx    x3, x2, #32, #4
    cbz     x3, 2f
    bic     x1, x1, #(1 << 8)
    msr     cptr_el2, x1
    isb
    mov     x3, #0x1ff
    msr     s3_4_c1_c2_0, x3            // ZCR_EL2
    b       3f
2:  msr     cptr_el2, x1
    isb

    // Where the GIC has system registers, EL1 may use them.
3:  ubfx    x2, x2, #24, #4
    cbz     x2, 4f
    mrs     x1, s3_4_c12_c9_5           // ICC_SRE_EL2
    orr     x1, x1, #1
    orr     x1, x1, #8
    msr     s3_4_c12_c9_5, x1
    isb
    mrs     x1, s3_4_c12_c9_5
    tbz     x1, #0, 4f
    msr     s3_4_c12_c11_0, xzr         // ICH_HCR_EL2

    // FEAT_HCX: memory copy instructions work. TCR2_EL1 and SCTLR2_EL1, where they exist, do not
    // trap: EL1 sets them to zero and compares them, and has no other instruction that writes
    // them. The bits are RES0 elsewhere.
4:  mrs     x1, id_aa64mmfr1_el1
    ubfx    x1, x1, #40, #4
    cbz     x1, 5f
    mov     x1, #(1 << 11)
    mrs     x2, s3_0_c0_c7_3            // ID_AA64MMFR3_EL1
    tst     x2, #0xf                    // TCRX
    b.eq    41f
    orr     x1, x1, #(1 << 14)          // TCR2En
41: tst     x2, #0xf0                   // SCTLRX
    b.eq    42f
    orr     x1, x1, #(1 << 15)          // SCTLR2En
42: mrs     x2, s3_0_c0_c4_2            // ID_AA64PFR2_EL1
    ubfx    x2, x2, #32, #4             // FPMR, which Linux saves with the FP registers
    cbz     x2, 43f
    orr     x1, x1, #(1 << 23)          // EnFPM
43: msr     s3_4_c1_c2_2, x1            // HCRX_EL2
    // FEAT_FGT: no fine-grained trap; fields whose name begins with n trap while they are 0.
5:  mrs     x1, id_aa64mmfr0_el1
    ubfx    x1, x1, #56, #4
    cbz     x1, 6f
    // FEAT_FGT2: the same for what Linux uses, PMUACR_EL1, PMICNTR_EL0 and PMICFILTR_EL0. The
    // rest is newer than Linux and traps; no instruction of EL1's writes it.
    cmp     x1, #2
    b.lo    51f
    mov     x1, #0x1c
    msr     s3_4_c3_c1_0, x1            // HDFGRTR2_EL2
    msr     s3_4_c3_c1_1, x1            // HDFGWTR2_EL2
    msr     s3_4_c3_c1_2, xzr           // HFGRTR2_EL2
    msr     s3_4_c3_c1_3, xzr           // HFGWTR2_EL2
    msr     s3_4_c3_c1_7, xzr           // HFGITR2_EL2
51:
    movz    x1, #0xfff4, lsl #48        // bits 63 to 52 and 50
    msr     s3_4_c1_c1_4, x1            // HFGRTR_EL2
    msr     s3_4_c1_c1_5, x1            // HFGWTR_EL2
    mov     x1, #0x0f80000000000000     // bits 59 to 55
    msr     s3_4_c1_c1_6, x1            // HFGITR_EL2
    mov     x1, #0x7800000000000000     // bits 62 to 59
    msr     s3_4_c3_c1_4, x1            // HDFGRTR_EL2
    mov     x1, #0x7000000000000000     // bits 62 to 60
    msr     s3_4_c3_c1_5, x1            // HDFGWTR_EL2
    mrs     x1, id_aa64pfr0_el1
    ubfx    x1, x1, #44, #4             // activity monitors
    cbz     x1, 6f
    msr     s3_4_c3_c1_6, xzr           // HAFGRTR_EL2

6:  adrp    x1, boot_el2_vectors
    add     x1, x1, :lo12:boot_el2_vectors
    msr     vbar_el2, x1
    movz    x1, #0x0800
    movk    x1, #0x30d0, lsl #16
    msr     sctlr_el1, x1
    mov     x1, #0x3c5                  // EL1h, D A I F masked
    msr     spsr_el2, x1
    adr     x1, \target
    msr     elr_el2, x1
    isb
    eret
.endm

// At EL1 with the MMU off: TCR2_EL1 and SCTLR2_EL1, where they exist, are zero before the first
// walk. They are UNKNOWN after a reset (DDI 0487, D24.2), and would give descriptors another
// meaning. Uses x1.
.macro clear_extensions
    mrs     x1, s3_0_c0_c7_3            // ID_AA64MMFR3_EL1
    tst     x1, #0xf                    // TCRX
    b.eq    71f
    msr     s3_0_c2_c0_3, xzr           // TCR2_EL1
71: tst     x1, #0xf0                   // SCTLRX
    b.eq    72f
    msr     s3_0_c1_c0_3, xzr           // SCTLR2_EL1
72: isb
.endm
