// SPDX-License-Identifier: MIT OR Apache-2.0
//! I17: EL2, of machines that start there, on every CPU that was switched on. Field positions: DDI
//! 0487, D24.2.

use super::World;
use crate::report::Violation;

/// HCR_EL2: VM, SWIO, FMO, IMO, AMO, VF, VI, VSE, DC, TIDCP, TGE, RW, CD, ID, E2H, NV, NV1 and NV2.
const HCR_FIXED: u64 =
    1 | 1 << 1 | 0x1f8 | 1 << 12 | 1 << 20 | 1 << 27 | 1 << 31 | 0b111 << 32 | 0b11 << 42 | 1 << 45;
/// RW: EL1 is AArch64. SWIO: no set/way operation drops data. TIDCP: IMPLEMENTATION DEFINED
/// registers trap.
const HCR_VALUE: u64 = 1 << 1 | 1 << 20 | 1 << 31;
/// SCTLR_EL2: M, EE and WXN.
const SCTLR_FIXED: u64 = 1 | 1 << 25 | 1 << 19;
/// MDCR_EL2: TDE, E2PB, E2TB and EnSTEPOP.
const MDCR_FIXED: u64 = 1 << 8 | 0b11 << 12 | 0b11 << 24 | 1 << 50;
/// HCRX_EL2 but MSCEn, TCR2En, SCTLR2En and EnFPM, which let EL1 use what it has.
const HCRX_FIXED: u64 = !(1 << 11 | 1 << 14 | 1 << 15 | 1 << 23);
/// Aff3 to Aff0 of an MPIDR.
const AFFINITY: u64 = 0xff_00ff_ffff;

/// Checks what QEMU shows of it.
pub fn check(world: &World<'_>) -> Vec<Violation> {
    let facts = &world.snapshot.facts;
    let mut violations = Vec::new();
    if !facts.el2 {
        return violations;
    }
    let vectors = facts.loaded + facts.image.stay.el2_vectors;
    for cpu in &world.snapshot.cpus {
        if cpu.is_off() || facts.stay.contains(&cpu.pc) {
            continue;
        }
        let own = facts.mpidrs.get(cpu.number as usize).copied();
        // MPIDR_EL1 reads as VMPIDR_EL2, and chooses the stack in the gate.
        let rules = [
            ("HCR_EL2", HCR_FIXED, HCR_VALUE),
            ("SCTLR_EL2", SCTLR_FIXED, 0),
            ("VBAR_EL2", u64::MAX, vectors),
            ("VTTBR_EL2", u64::MAX, 0),
            ("MDCR_EL2", MDCR_FIXED, 0),
            ("VMPIDR_EL2", AFFINITY, own.unwrap_or(u64::MAX)),
            ("HSTR_EL2", u64::MAX, 0),
            ("CNTVOFF_EL2", u64::MAX, 0),
            ("HCRX_EL2", HCRX_FIXED, 0),
        ];
        for (name, fixed, right) in rules {
            let text = match cpu.at_level_2(name) {
                Some(value) if value & fixed == right => continue,
                Some(value) => format!("{name} is {value:#x}; of {fixed:#x} it must be {right:#x}"),
                // Only cores with FEAT_HCX have it.
                None if name == "HCRX_EL2" => continue,
                None => format!("QEMU does not show {name}"),
            };
            violations.push(Violation {
                va: Some(cpu.pc),
                ..Violation::plain("I17", &format!("CPU {}", cpu.number), text)
            });
        }
    }
    violations
}
