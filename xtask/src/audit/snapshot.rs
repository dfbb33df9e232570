// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an audit looks at: a machine at one moment.

use std::ops::Range;
use std::rc::Rc;

use donjon_abi::layout::{GATE, SLOT_SIZE};

use super::code::AllowList;
use super::memory::Memory;

/// A CPU at that moment.
#[derive(Clone, Debug, Default)]
pub struct Cpu {
    /// Its number.
    pub number: u32,
    /// Whether the firmware keeps it switched off, or never switched it on.
    pub off: bool,
    /// Program counter.
    pub pc: u64,
    /// PSTATE as SPSR would have it.
    pub pstate: u64,
    /// TTBR0_EL1.
    pub ttbr0: u64,
    /// TTBR1_EL1.
    pub ttbr1: u64,
    /// TCR_EL1.
    pub tcr: u64,
    /// SCTLR_EL1.
    pub sctlr: u64,
    /// VBAR_EL1.
    pub vbar: u64,
    /// MAIR_EL1.
    pub mair: u64,
    /// Those of TCR2_EL1, SCTLR2_EL1, PIR_EL1, PIRE0_EL1 and POR_EL1 that the CPU has.
    pub extensions: Vec<(String, u64)>,
}

impl Cpu {
    /// The table that TTBR0_EL1 names.
    pub const fn user_root(&self) -> u64 {
        self.ttbr0 & ROOT
    }

    /// The table that TTBR1_EL1 names.
    pub const fn kernel_root(&self) -> u64 {
        self.ttbr1 & ROOT
    }
}

/// BADDR of a TTBR whose table is a whole page.
const ROOT: u64 = 0x0000_ffff_ffff_f000;

/// Addresses of the inner domain's own code and data.
pub const INNER_CODE: Range<u64> = GATE - SLOT_SIZE..GATE;

/// Addresses in Linux, from its symbols; virtual.
#[derive(Clone, Debug, Default)]
pub struct Linux {
    /// First byte of the image.
    pub image: u64,
    /// Physical address of that.
    pub physical: u64,
    /// `_stext` to `_etext`.
    pub text: Range<u64>,
    /// `__start_rodata` to `__init_begin`.
    pub read_only: Range<u64>,
    /// `vectors`.
    pub vectors: u64,
    /// `donjon_table_block`.
    pub table_block: u64,
    /// `reserved_pg_dir`.
    pub reserved_root: u64,
}

impl Linux {
    /// Where an address of the image is in memory.
    pub const fn to_physical(&self, address: u64) -> u64 {
        address - self.image + self.physical
    }

    /// The same for a range.
    pub const fn range(&self, addresses: &Range<u64>) -> Range<u64> {
        self.to_physical(addresses.start)..self.to_physical(addresses.end)
    }
}

/// What does not change while a machine runs.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Banks of RAM.
    pub ram: Vec<Range<u64>>,
    /// Memory of the inner domain, with the boot stage's page that stays.
    pub inner: Vec<Range<u64>>,
    /// Pools of tables that were announced at boot.
    pub table_pools: Vec<Range<u64>>,
    /// Pools of text that were announced at boot.
    pub text_pools: Vec<Range<u64>>,
    /// Registers of devices that may be mapped, whole pages.
    pub devices: Vec<Range<u64>>,
    /// Registers of devices that must not be.
    pub withheld: Vec<Range<u64>>,
    /// Linux.
    pub linux: Linux,
    /// Instructions that may be executable at EL1.
    pub allowed: AllowList,
    /// Writes of TCR_EL1 that the gate page has: one, in mode `strict` three.
    pub gate_writes: usize,
}

/// A machine at one moment.
pub struct Snapshot {
    /// What never changes.
    pub facts: Rc<Facts>,
    /// All CPUs.
    pub cpus: Vec<Cpu>,
    /// RAM.
    pub memory: Box<dyn Memory>,
}

impl Snapshot {
    /// The CPUs that run, but for those that [arrive](Self::is_arriving).
    pub fn running(&self) -> impl Iterator<Item = &Cpu> {
        self.cpus
            .iter()
            .filter(|it| !it.off && !self.is_arriving(it))
    }

    /// Whether a CPU that was switched on is still on its way through the inner domain's entry,
    /// with the MMU off or with tables that are the inner domain's: the outer domain has not run
    /// there yet.
    pub fn is_arriving(&self, cpu: &Cpu) -> bool {
        let ours = |pa: u64| self.facts.inner.iter().any(|it| it.contains(&pa));
        let translated = cpu.sctlr & 1 == 1;
        match (ours(cpu.pc), INNER_CODE.contains(&cpu.pc)) {
            (true, _) if !translated => true,
            (false, false) => false,
            _ => translated && ours(cpu.user_root()),
        }
    }
}
