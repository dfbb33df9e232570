// SPDX-License-Identifier: MIT OR Apache-2.0
//! The description of the machine; set once, before Linux starts.

extern crate alloc;

use alloc::vec::Vec;

use donjon_abi::boot_info::{BootInfo, Conduit};
use donjon_core::cpu::cpus::CpuSet;
use donjon_core::memory::outer_range::OuterMemory;
use donjon_core::range::Range;
use spin::Once;

/// The machine.
pub struct MachineInfo {
    /// What the boot stage said.
    pub boot: BootInfo,
    /// Banks of RAM.
    pub banks: Vec<Range>,
    /// Memory that the device tree sets aside and that Linux does not get.
    pub reserved: Vec<Range>,
    /// Memory that the outer domain may name.
    pub outer: OuterMemory,
    /// CPUs with a stack.
    pub cpus: CpuSet,
    /// How the firmware is called.
    pub conduit: Conduit,
}

static MACHINE: Once<MachineInfo> = Once::new();

/// Stores what is known of the machine. Later calls change nothing.
pub fn set(machine: MachineInfo) -> &'static MachineInfo {
    MACHINE.call_once(|| machine)
}

/// The machine, or none before initialisation.
pub fn machine() -> Option<&'static MachineInfo> {
    MACHINE.get()
}
