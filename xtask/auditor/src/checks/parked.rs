// SPDX-License-Identifier: MIT OR Apache-2.0
//! I11, as far as it is visible: CPUs that are off.
//!
//! One that was never switched on stands where a reset leaves it. One that was switched off again
//! stands still inside the inner domain, with the empty root. A CPU that executes with the MMU off
//! is neither, wherever it is; [`super::registers`] names it.

use super::World;
use super::registers::is_inside;
use crate::report::Violation;
use crate::snapshot::Cpu;

/// PSTATE.M: the exception level.
const LEVEL_SHIFT: u64 = 2;

/// Checks the CPUs that are off, and the exception level of the others.
pub fn check(world: &World<'_>) -> Vec<Violation> {
    let facts = &world.snapshot.facts;
    let mut violations = Vec::new();
    if world.snapshot.cpus.len() != facts.mpidrs.len() {
        let text = format!(
            "QEMU has {} CPUs and its device tree {}",
            world.snapshot.cpus.len(),
            facts.mpidrs.len()
        );
        violations.push(Violation::plain("I11", "machine", text));
    }
    let empty = facts.linux.to_physical(facts.linux.reserved_root);
    for cpu in &world.snapshot.cpus {
        let mut wrong = |text: String| {
            let owner = format!("CPU {}", cpu.number);
            violations.push(Violation {
                va: Some(cpu.pc),
                ..Violation::plain("I11", &owner, text)
            });
        };
        if cpu.is_off() {
            for (name, value) in left(cpu) {
                wrong(format!("a CPU that is off has {name} {value:#x}"));
            }
        } else if cpu.halted && is_inside(cpu) && cpu.ttbr0 != empty {
            wrong(format!(
                "a CPU that was switched off has TTBR0_EL1 {:#x}",
                cpu.ttbr0
            ));
        }
        let level = cpu.pstate >> LEVEL_SHIFT & 3;
        if !cpu.is_off() && level > 1 && !facts.stay.contains(&cpu.pc) {
            wrong(format!("a CPU is at EL{level}"));
        }
    }
    violations
}

/// Registers that are not as a reset leaves them on QEMU's CPUs.
fn left(cpu: &Cpu) -> Vec<(&str, u64)> {
    let mut all = vec![
        ("TTBR0_EL1", cpu.ttbr0),
        ("TCR_EL1", cpu.tcr),
        ("VBAR_EL1", cpu.vbar),
        ("MAIR_EL1", cpu.mair),
        (
            "SCTLR_EL2, bit M",
            cpu.at_level_2("SCTLR_EL2").unwrap_or(0) & 1,
        ),
    ];
    for name in ["HCR_EL2", "VBAR_EL2", "VTTBR_EL2"] {
        all.extend(cpu.at_level_2(name).map(|value| (name, value)));
    }
    all.retain(|(_, value)| *value != 0);
    all
}
