// SPDX-License-Identifier: MIT OR Apache-2.0
//! The system registers that decide about translation: read, compared, loaded.

use core::arch::asm;

use aarch64_cpu::registers::{
    ID_AA64MMFR0_EL1, MAIR_EL1, Readable, SCTLR_EL1, TTBR0_EL1, TTBR1_EL1, VBAR_EL1, Writeable,
};
use donjon_core::cpu::extensions::{self, Extension};
use donjon_core::cpu::generic_key;
use donjon_core::cpu::registers::TranslationRegisters;

/// The registers of this CPU that decide about translation.
pub fn translation() -> TranslationRegisters {
    TranslationRegisters {
        sctlr: SCTLR_EL1.get(),
        vbar: VBAR_EL1.get(),
        mair: MAIR_EL1.get(),
        amair: amair(),
        ttbr1: TTBR1_EL1.get(),
        extensions: read_extensions(),
    }
}

/// Loads the registers that decide about translation on a CPU that arrives. `TTBR1_EL1` is right
/// already, or we would not be here.
///
/// # Safety
///
/// `registers` were read on a running CPU of this machine.
pub unsafe fn load_translation(registers: &TranslationRegisters) {
    MAIR_EL1.set(registers.mair);
    // SAFETY: the value was read on a running CPU of this machine, so it changes no memory type
    // that mappings rely on.
    unsafe { asm!("msr amair_el1, {}", in(reg) registers.amair, options(nostack)) };
    VBAR_EL1.set(registers.vbar);
    SCTLR_EL1.set(registers.sctlr);
    synchronize();
}

fn amair() -> u64 {
    let value;
    // SAFETY: reading a register has no other effect.
    unsafe { asm!("mrs {}, amair_el1", out(reg) value, options(nomem, nostack)) };
    value
}

/// Changes `SCTLR_EL1` of this CPU.
///
/// # Safety
///
/// The value leaves the MMU on and the inner domain's mappings valid.
pub unsafe fn set_sctlr(value: u64) {
    SCTLR_EL1.set(value);
    synchronize();
}

/// `TTBR0_EL1` of this CPU.
pub fn ttbr0() -> u64 {
    TTBR0_EL1.get()
}

/// Changes `TTBR0_EL1` of this CPU. Nothing walks the old root afterwards: not while the inner
/// view stands (`EPD0`), and not when the gate clears that bit, because the two writes are to
/// different registers, which only a context synchronization event keeps in order (Arm DDI 0487,
/// D24.1, synchronization requirements). So another CPU may give the old ASID away from here on.
pub fn set_ttbr0(value: u64) {
    TTBR0_EL1.set(value);
    synchronize();
    #[cfg(feature = "trace-steps")]
    crate::trace::record(donjon_abi::trace::RecordKind::Load, [value, 0, 0]);
}

/// Whether SP is SP_EL1 (`SPSel`).
pub fn selects_sp_el1() -> bool {
    let selected: u64;
    // SAFETY: reading a register has no other effect.
    unsafe { asm!("mrs {}, spsel", out(reg) selected, options(nomem, nostack, preserves_flags)) };
    selected & 1 != 0
}

/// `ID_AA64MMFR0_EL1` of this CPU.
pub fn memory_features() -> u64 {
    ID_AA64MMFR0_EL1.get()
}

/// Whether this CPU has PACGA and its key.
pub fn has_generic_key() -> bool {
    let (first, second): (u64, u64);
    // SAFETY: reads two identification registers; where one is not defined it is reserved for such,
    // and zero.
    unsafe {
        asm!("mrs {}, s3_0_c0_c6_1", out(reg) first, options(nomem, nostack));
        asm!("mrs {}, s3_0_c0_c6_2", out(reg) second, options(nomem, nostack));
    }
    generic_key::exists(first, second)
}

/// `ID_AA64MMFR3_EL1`, which reads as zero where it is not defined.
fn extension_features() -> u64 {
    let features: u64;
    // SAFETY: reads an identification register, or one that is reserved for such.
    unsafe { asm!("mrs {}, s3_0_c0_c7_3", out(reg) features, options(nomem, nostack)) };
    features
}

/// Switches off what would give descriptors or faults another meaning, where it exists:
/// permission indirection, overlays, 128-bit descriptors and a second ASID (`TCR2_EL1` and what it
/// enables), and NMIs that ignore the mask (`SCTLR2_EL1`). Their values after a reset are not all
/// defined.
pub fn close_extensions() {
    let features = extension_features();
    let registers = Extension::ALL.into_iter();
    for register in registers.filter(|it| it.exists(features)) {
        // SAFETY: the register exists. With zeros the CPU does as if it had none of this, which is
        // what all tables are made for.
        unsafe {
            match register {
                Extension::Tcr2 => asm!("msr s3_0_c2_c0_3, xzr", options(nostack)),
                Extension::Sctlr2 => asm!("msr s3_0_c1_c0_3, xzr", options(nostack)),
                Extension::Pire0 => asm!("msr s3_0_c10_c2_2, xzr", options(nostack)),
                Extension::Pir => asm!("msr s3_0_c10_c2_3, xzr", options(nostack)),
                Extension::Por => asm!("msr s3_0_c10_c2_4, xzr", options(nostack)),
            }
        }
    }
    synchronize();
}

/// What is in them; zero where there is no such register.
fn read_extensions() -> extensions::Values {
    let features = extension_features();
    Extension::ALL.map(|register| {
        let value: u64;
        if !register.exists(features) {
            return 0;
        }
        // SAFETY: the register exists, and reading it has no other effect.
        unsafe {
            match register {
                Extension::Tcr2 => asm!("mrs {}, s3_0_c2_c0_3", out(reg) value),
                Extension::Sctlr2 => asm!("mrs {}, s3_0_c1_c0_3", out(reg) value),
                Extension::Pire0 => asm!("mrs {}, s3_0_c10_c2_2", out(reg) value),
                Extension::Pir => asm!("mrs {}, s3_0_c10_c2_3", out(reg) value),
                Extension::Por => asm!("mrs {}, s3_0_c10_c2_4", out(reg) value),
            }
        }
        value
    })
}

/// Makes earlier register writes of this CPU take effect.
pub fn synchronize() {
    // SAFETY: a barrier has no other effect.
    unsafe { asm!("isb", options(nostack)) };
}
