// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the boot stage passes to the inner domain.

use crate::layout::MAX_CPUS;

/// Most banks of RAM.
pub const MAX_BANKS: usize = 8;
/// Most ranges of devices.
pub const MAX_DEVICES: usize = 32;
/// Most ranges of memory that the device tree sets aside and that Linux does not get.
pub const MAX_RESERVED: usize = 12;

/// A physical range, half open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Bank {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// How the firmware is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Conduit {
    /// There is no PSCI.
    None = 0,
    /// HVC, to a hypervisor at EL2.
    Hvc = 1,
    /// SMC, to EL3.
    Smc = 2,
}

impl Conduit {
    /// The conduit of a word; anything unknown is none.
    pub const fn from_word(word: u64) -> Self {
        match word {
            1 => Self::Hvc,
            2 => Self::Smc,
            _ => Self::None,
        }
    }
}

/// What a CPU needs before it reaches the inner domain, in the page that stays: the boot stage
/// writes it, `stay.S` reads it with the MMU off.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Arrival {
    /// `TTBR0_EL1`: a map of the page that stays onto itself.
    pub ttbr0: u64,
    /// `TTBR1_EL1`: the kernel's root with the reserved ASID.
    pub ttbr1: u64,
    /// `SCTLR_EL1` with the MMU on.
    pub sctlr: u64,
    /// Where the inner domain takes over, a virtual address.
    pub entry: u64,
}

/// Written by the boot stage into a page of the inner memory, read once by the inner domain.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BootInfo {
    /// The inner domain's memory.
    pub region: Bank,
    /// RAM, the inner memory included; empty banks at the end.
    pub banks: [Bank; MAX_BANKS],
    /// Number of CPUs in `mpidrs`.
    pub cpu_count: u64,
    /// MPIDR affinity of each CPU of the device tree.
    pub mpidrs: [u64; MAX_CPUS],
    /// A `SwitchMode` word.
    pub switch_mode: u64,
    /// A [`Conduit`] word.
    pub conduit: u64,
    /// SHA-256 of Linux as it was started, in big-endian words.
    pub digest: [u64; 4],
    /// Whether the console is mapped in the device window.
    pub has_console: u64,
    /// Physical address where a CPU that is switched on enters: the boot stage's code for it.
    pub secondary_entry: u64,
    /// The boot stage's page that stays, where CPUs enter: the inner domain's as well.
    pub stays: Bank,
    /// The table block in Linux's image, which no call writes to.
    pub table_block: Bank,
    /// Entries of the gate's invalidation list.
    pub tlbi_pages: u64,
    /// Devices that Linux may map, whole pages; empty ranges at the end.
    pub devices: [Bank; MAX_DEVICES],
    /// Memory that the device tree sets aside and that Linux does not get, whole pages; empty
    /// ranges at the end.
    pub reserved: [Bank; MAX_RESERVED],
    /// Physical address of the kernel's root table.
    pub root: u64,
    /// Physical address of Linux's empty lower root, `reserved_pg_dir`.
    pub reserved_root: u64,
    /// Zeroed inner memory for the types of all frames.
    pub frame_table: Bank,
    /// Zeroed inner memory for the metadata of pool frames.
    pub pool_table: Bank,
    /// Inner memory for user tables, whole pages.
    pub user_arena: Bank,
    /// Inner memory for what is kept about each page of the arena.
    pub user_cells: Bank,
    /// Zeroed inner memory for the user tree of each ASID.
    pub user_trees: Bank,
}
