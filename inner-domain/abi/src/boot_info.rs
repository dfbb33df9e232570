// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the boot stage passes to the inner domain.

use zeroize::Zeroize;

use crate::layout::MAX_CPUS;

/// Most banks of RAM.
pub const MAX_BANKS: usize = 8;
/// Most ranges of devices.
pub const MAX_DEVICES: usize = 64;
/// Most pieces of registers that the inner domain writes for Linux.
pub const MAX_MEDIATED: usize = 20;
/// Most ranges of pages with them.
pub const MAX_READABLE: usize = 4;
/// Most pieces of memory that devices reach.
pub const MAX_REACHED: usize = 32;
/// Most ranges of memory that the device tree sets aside and that Linux does not get.
pub const MAX_RESERVED: usize = 12;

/// A physical range, half open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Bank {
    /// First byte.
    pub start: u64,
    /// One past the last byte of the bank.
    pub end: u64,
}

/// How the firmware is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Conduit {
    /// No firmware is called: the machine has no PSCI.
    None = 0,
    /// HVC, to a hypervisor at EL2.
    Hvc = 1,
    /// SMC, to EL3.
    Smc = 2,
    /// No firmware is called: the inner domain keeps the CPUs and answers as PSCI would.
    Emulated = 3,
}

impl Conduit {
    /// The conduit of a word; anything unknown is none.
    pub const fn from_word(word: u64) -> Self {
        match word {
            1 => Self::Hvc,
            2 => Self::Smc,
            3 => Self::Emulated,
            _ => Self::None,
        }
    }
}

/// What kind of UART the console is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum ConsoleKind {
    /// No console.
    None = 0,
    /// A PL011.
    Pl011 = 1,
    /// The small UART of a Raspberry Pi.
    Small = 2,
}

impl ConsoleKind {
    /// The kind of a word; anything unknown is none.
    pub const fn from_word(word: u64) -> Self {
        match word {
            1 => Self::Pl011,
            2 => Self::Small,
            _ => Self::None,
        }
    }
}

/// Registers of 32 bits that Linux reads and the inner domain writes for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Mediated {
    /// Physical addresses of the registers, within one page.
    pub registers: Bank,
    /// Virtual address of the first one, in the inner domain.
    pub mapped: u64,
    /// The bits that Linux may set. The others are written as zeros.
    pub bits: u64,
}

/// Memory that devices reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Reached {
    /// Whole pages.
    pub pages: Bank,
    /// 1 if devices write them, 0 if they only read them.
    pub is_written: u64,
}

/// A USB controller whose registers Linux reads and the inner domain writes for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct UsbController {
    /// Physical addresses of the registers, one page; empty if there is none.
    pub registers: Bank,
    /// Virtual address of the first one, in the inner domain.
    pub mapped: u64,
    /// First address of memory on the controller's bus.
    pub on_bus: u64,
    /// Memory that is there.
    pub memory: Bank,
    /// 1 if firmware had left a channel on, 0 otherwise.
    pub had_channels_on: u64,
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

/// Secrets, in a page of the inner memory: written by the boot stage, read once and wiped by the
/// inner domain.
#[derive(Zeroize)]
#[repr(C)]
pub struct BootSecrets {
    /// Key of reports.
    pub reports: [u8; 32],
    /// Secret from which keys are derived.
    pub keys: [u8; 32],
    /// Seed of random bytes.
    pub seed: [u8; 32],
    /// 0 if there is no seed.
    pub has_seed: u64,
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
    /// A `DmaProfile` word.
    pub dma_profile: u64,
    /// A [`Conduit`] word.
    pub conduit: u64,
    /// SHA-256 of Linux as it was started, in big-endian words.
    pub digest: [u64; 4],
    /// SHA-256 of what the boot stage starts: Linux, its command line and the inner domain.
    pub started: [u8; 32],
    /// An `Identity` word.
    pub identity: u64,
    /// A `Randomness` word.
    pub randomness: u64,
    /// Physical address of the [`BootSecrets`], or 0.
    pub secrets: u64,
    /// A [`ConsoleKind`] word.
    pub console_kind: u64,
    /// Virtual address of the console's registers, in the device window.
    pub console: u64,
    /// Virtual address of the registers of the Raspberry Pi's watchdog, in the device window; 0
    /// if there is none.
    pub watchdog: u64,
    /// Virtual address of the registers of the VideoCore's mailbox, in the device window, if the
    /// inner domain has it; otherwise 0.
    pub mailbox: u64,
    /// Physical address of a page of the inner memory for its messages.
    pub messages: u64,
    /// Physical address of a zeroed page of the inner memory where CPUs wait to be started, if the
    /// inner domain keeps them; otherwise 0.
    pub parked_cpus: u64,
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
    /// Pages that Linux may map read-only; empty ranges at the end.
    pub readable: [Bank; MAX_READABLE],
    /// Registers there that the inner domain writes for Linux; empty ones at the end.
    pub mediated: [Mediated; MAX_MEDIATED],
    /// Memory that the device tree sets aside and that Linux does not get, whole pages; empty
    /// ranges at the end.
    pub reserved: [Bank; MAX_RESERVED],
    /// Memory that no device reaches, whole blocks, for pools and private memory; empty where all
    /// memory may be used.
    pub reserve: Bank,
    /// A USB controller that the inner domain has.
    pub usb: UsbController,
    /// Memory that devices reach, that controller among them; empty pieces at the end, and no other
    /// where devices are not kept to a window.
    pub reached: [Reached; MAX_REACHED],
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
    /// Zeroed inner memory for a word about each frame: who has it if it is private.
    pub private_words: Bank,
    /// Inner memory for what is kept about each block of private frames.
    pub private_blocks: Bank,
    /// Inner memory for what is kept about compartments.
    pub compartments: Bank,
    /// Zeroed inner memory for the root of each compartment, 8 bytes.
    pub compartment_roots: Bank,
}

const _: () = assert!(size_of::<BootInfo>() <= crate::layout::PAGE_SIZE as usize);
