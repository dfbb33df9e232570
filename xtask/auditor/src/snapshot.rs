// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of a machine at one moment.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use donjon_abi::layout::{GATE, SLOT_SIZE};

use super::code::AllowList;
use super::image::Image;
use super::memory::Memory;
use super::metadata::Metadata;

/// A CPU at that moment.
#[derive(Clone, Debug, Default)]
pub struct Cpu {
    /// Number of the CPU.
    pub number: u32,
    /// Whether it stands still until something wakes it: in WFI, or switched off.
    pub halted: bool,
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
    /// AMAIR_EL1.
    pub amair: u64,
    /// Registers of EL2 by name, as far as QEMU shows them.
    pub level_2: Vec<(String, u64)>,
    /// The registers among TCR2_EL1, SCTLR2_EL1, PIR_EL1, PIRE0_EL1 and POR_EL1 that the CPU has.
    pub extensions: Vec<(String, u64)>,
}

impl Cpu {
    /// Whether the firmware never switched it on: it stands still where a reset leaves it. One
    /// that executes there, with the MMU off, is none.
    pub const fn is_off(&self) -> bool {
        self.halted && self.sctlr & 1 == 0 && self.pc == 0 && self.ttbr1 == 0
    }

    /// A register of EL2.
    pub fn at_level_2(&self, name: &str) -> Option<u64> {
        let found = self.level_2.iter().find(|(it, _)| it == name);
        found.map(|(_, value)| *value)
    }

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

    /// Where a range of addresses of the image is in memory.
    pub const fn range(&self, addresses: &Range<u64>) -> Range<u64> {
        self.to_physical(addresses.start)..self.to_physical(addresses.end)
    }
}

/// What is where in a machine.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Banks of RAM.
    pub ram: Vec<Range<u64>>,
    /// Affinities of the CPUs.
    pub mpidrs: Vec<u64>,
    /// Where QEMU put the boot image.
    pub loaded: u64,
    /// Memory of the inner domain, with the boot stage's page that stays.
    pub inner: Vec<Range<u64>>,
    /// The boot stage's page that stays.
    pub stay: Range<u64>,
    /// Pools of tables, those that grew included.
    pub table_pools: Vec<Range<u64>>,
    /// Pools of text.
    pub text_pools: Vec<Range<u64>>,
    /// What the inner domain wrote down about each frame.
    pub metadata: Metadata,
    /// Where the tables of users are.
    pub user_arena: Range<u64>,
    /// Roots of the tables of users, by ASID.
    pub user_trees: BTreeMap<u16, u64>,
    /// Where that is written down, four bytes each.
    pub user_tree_table: Range<u64>,
    /// Frames of private memory, and the number of the compartment that has it, from 1 on; 0 for
    /// none.
    pub private: BTreeMap<u64, u32>,
    /// Roots of compartments, by their numbers.
    pub compartments: BTreeMap<u32, u64>,
    /// Memory that no device reaches, for pools and private memory.
    pub reserve: Range<u64>,
    /// Registers of devices that may be mapped, whole pages.
    pub devices: Vec<Range<u64>>,
    /// Registers of devices that must not be.
    pub withheld: Vec<Range<u64>>,
    /// Pages of registers that may be mapped read-only.
    pub read_only_devices: Vec<Range<u64>>,
    /// Linux.
    pub linux: Linux,
    /// What must stand in memory.
    pub image: Rc<Image>,
    /// Instructions that may be executable at EL1.
    pub allowed: AllowList,
    /// Writes of TCR_EL1 that the gate page has: one, in mode `strict` three.
    pub gate_writes: usize,
    /// Whether the machine started at EL2.
    pub el2: bool,
}

/// An SMMU at one moment.
#[derive(Clone, Debug, Default)]
pub struct Smmu {
    /// CR0.
    pub control: u32,
    /// CR0ACK.
    pub acknowledged: u32,
    /// IRQ_CTRL: what makes the SMMU itself write to memory, or raise an interrupt.
    pub messages: u32,
    /// STRTAB_BASE.
    pub streams: u64,
    /// STRTAB_BASE_CFG.
    pub streams_form: u32,
    /// The page to which functions write to raise interrupts.
    pub doorbell: Option<u64>,
    /// Memory that devices do not reach, for pools and private memory.
    pub reserve: Range<u64>,
}

/// A USB controller at one moment.
#[derive(Clone, Debug, Default)]
pub struct Usb {
    /// Where its bus has the first address of memory.
    pub bus: u64,
    /// HCFG.
    pub host: u32,
    /// HCCHAR, HCTSIZ and HCDMA of each channel.
    pub channels: Vec<[u32; 3]>,
    /// Memory that devices do not reach, for pools and private memory.
    pub reserve: Range<u64>,
}

/// A machine at one moment.
pub struct Snapshot {
    /// What is where.
    pub facts: Rc<Facts>,
    /// All CPUs.
    pub cpus: Vec<Cpu>,
    /// The SMMU between PCI functions and memory; none where no device is kept from memory.
    pub smmu: Option<Smmu>,
    /// The USB controller that the inner domain keeps to a window; none where there is none.
    pub usb: Option<Usb>,
    /// RAM.
    pub memory: Box<dyn Memory>,
}

impl Snapshot {
    /// The CPUs that run, but for those that [arrive](Self::is_arriving).
    pub fn running(&self) -> impl Iterator<Item = &Cpu> {
        self.cpus
            .iter()
            .filter(|it| !it.is_off() && !self.is_arriving(it))
    }

    /// Whether a CPU that was switched on is still on its way through the inner domain's entry,
    /// with the MMU off or with tables that are the inner domain's: the outer domain has not run
    /// there yet.
    pub fn is_arriving(&self, cpu: &Cpu) -> bool {
        // Not the root of a process, which it has on its way through a call as well.
        let arena = &self.facts.user_arena;
        let ours =
            |pa: u64| !arena.contains(&pa) && self.facts.inner.iter().any(|it| it.contains(&pa));
        let translated = cpu.sctlr & 1 == 1;
        let stays = self.facts.stay.contains(&cpu.pc);
        match (stays, INNER_CODE.contains(&cpu.pc)) {
            (true, _) if !translated => true,
            (false, false) => false,
            _ => translated && ours(cpu.user_root()),
        }
    }
}
