// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two values of `TCR_EL1` between which the gate switches, and what goes with them.
//!
//! Both are compile-time constants, the same on every CPU and every supported machine. That is
//! what lets the gate build them from immediates and the vectors compare them exactly with
//! seven instructions. It costs two decisions: the physical address size is fixed at 40 bits
//! (every core that we support implements at least that), and CPUs with 8-bit ASIDs, on which
//! `TCR_EL1.AS` would not read back as written, are refused at boot.
//!
//! Field positions: Arm DDI 0487, section D24.2 (TCR_EL1).

use crate::declare::constants;

const fn field(value: u64, shift: u32) -> u64 {
    value << shift
}

/// Shift of `T0SZ`, the size offset of the lower VA range.
pub const T0SZ_SHIFT: u32 = 0;
/// `EPD0`: no table walk for the lower VA range.
pub const EPD0: u64 = 1 << 7;
/// Shift of `T1SZ`, the size offset of the upper VA range.
pub const T1SZ_SHIFT: u32 = 16;
/// `A1`: the current ASID comes from TTBR1_EL1 instead of TTBR0_EL1.
pub const A1: u64 = 1 << 22;
/// `TBI0`: the upper byte of an address in the lower VA range is ignored.
pub const TBI0: u64 = 1 << 37;
/// Shift of `TG1`, the granule of the upper VA range.
pub const TG1_SHIFT: u32 = 30;

/// `T1SZ` of the outer view: 47 bits of upper VA range.
pub const T1SZ_OUTER: u64 = 17;
/// `T1SZ` of the inner view: 48 bits of upper VA range.
pub const T1SZ_INNER: u64 = 16;

/// Everything that the two views have in common.
const SHARED: u64 = field(16, T0SZ_SHIFT) // 48-bit lower range, all of it for users
    | field(0b01, 8)    // IRGN0: inner write-back write-allocate
    | field(0b01, 10)   // ORGN0: outer write-back write-allocate
    | field(0b11, 12)   // SH0: inner shareable
    | field(0b00, 14)   // TG0: 4 KiB
    | field(0b01, 24)   // IRGN1
    | field(0b01, 26)   // ORGN1
    | field(0b11, 28)   // SH1
    | field(0b10, TG1_SHIFT) // TG1: 4 KiB
    | field(0b010, 32)  // IPS: 40 bits
    | field(1, 36)      // AS: 16-bit ASIDs
    | TBI0; // user pointers may be tagged

constants! {
    /// TCR_EL1 whenever Linux runs, bit for bit.
    pub const OUTER: u64 = SHARED | field(T1SZ_OUTER, T1SZ_SHIFT) => "TCR_OUTER";

    /// `TCR_EL1` in the inner domain, modes `asid` and `strict`: wide upper range, the reserved
    /// ASID of TTBR1_EL1 is current, no walks of user tables.
    pub const INNER: u64 = SHARED | field(T1SZ_INNER, T1SZ_SHIFT) | A1 | EPD0;

    /// `TCR_EL1` in the inner domain, mode `tlbi`: as [`INNER`], but the ASID stays the user's.
    pub const INNER_TLBI: u64 = SHARED | field(T1SZ_INNER, T1SZ_SHIFT) | EPD0;

    /// The middle step of mode `strict`: the reserved ASID is current, the range still narrow.
    pub const STRICT_MIDDLE: u64 = SHARED | field(T1SZ_OUTER, T1SZ_SHIFT) | A1 | EPD0;

    /// `TCR_EL1` of the boot stage while it builds and starts the inner domain: the inner view,
    /// with walks of the lower range for the boot stage's own identity map.
    pub const BOOT: u64 = INNER & !EPD0;

    /// `TCR_EL1` while a compartment runs: the inner view, with the ASID of TTBR0_EL1 and with
    /// walks of the lower range. TBI0 is 0, so an address with a tag in its upper byte faults: the
    /// words of a flow log rest on it. That ASID is [`COMPARTMENT_ASID`], which no process has.
    pub const INSIDE: u64 = SHARED & !TBI0 | field(T1SZ_INNER, T1SZ_SHIFT);

    /// The ASID in TTBR1_EL1, never a user's; valid with 8-bit ASIDs as well.
    pub const RESERVED_ASID: u16 = 1 => "RESERVED_ASID";
    /// The ASID of all compartments: each CPU invalidates it before it enters a compartment other
    /// than the last.
    pub const COMPARTMENT_ASID: u16 = 2;
    /// The last ASID that Linux gives no process.
    pub const LAST_RESERVED_ASID: u16 = COMPARTMENT_ASID => "LAST_RESERVED_ASID";
}

/// Physical address bits that `TCR_EL1.IPS` admits.
pub const PHYSICAL_ADDRESS_BITS: u32 = 40;

/// `MAIR_EL1`, as Linux 6.12 programs it; inner mappings use the same indices, because the
/// register is not switched in the gate.
pub const MAIR: u64 = field(0xff, 8 * MAIR_NORMAL)
    | field(0xff, 8)    // Normal, tagged (no MTE: the same as Normal)
    | field(0x44, 16)   // Normal non-cacheable
    | field(0x00, 8 * MAIR_DEVICE)
    | field(0x04, 32); // Device-nGnRE

/// MAIR index of normal write-back memory.
pub const MAIR_NORMAL: u32 = 0;
/// MAIR index of Device-nGnRnE memory.
pub const MAIR_DEVICE: u32 = 3;

const _: () = {
    // One bit each changes between the views, so a mixture of the old and the new value of one
    // field is one of the two (DDI 0487 K1.2.3 allows an amalgamation of them).
    assert!((T1SZ_OUTER ^ T1SZ_INNER).count_ones() == 1);
    assert!((OUTER ^ INNER).count_ones() == 3);
    assert!(OUTER == 0x32_b511_3510);
    assert!(INNER == 0x32_b550_3590);
};
