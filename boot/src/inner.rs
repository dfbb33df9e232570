// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the inner domain: its image in its own memory, its half of the root, the gate.

extern crate alloc;

use alloc::vec::Vec;

use donjon_abi::boot_info::{Arrival, Bank, BootInfo, BootSecrets};
use donjon_abi::layout::{
    BLOCK_SIZE, CPU_BLOCKS, DATA_WINDOW, DEVICE_WINDOW, GATE, GATE_L1_PAGE, GATE_L2_PAGE,
    GATE_L3_PAGE, GATE_SLOT, GATE_TLBI_LIST, GATE_TLBI_MAX, PAGE_SIZE, PHYSMAP, ROOT_PAGE,
    STACK_PAGES, STACK_STRIDE, TABLE_BLOCK_SIZE, TEXT_WINDOW, WINDOW_SIZE,
};
use donjon_abi::manifest::{Segment, SwitchMode};
use donjon_abi::tcr::RESERVED_ASID;
use donjon_core::compartment::Slot;
use donjon_core::cpu::cpus::CpuSet;
use donjon_core::dma::window::DeviceWindow;
use donjon_core::kernel_tables::{MAX_TABLE_BLOCKS, PoolFrame};
use donjon_core::memory::private::{Private, PrivateBlock};
use donjon_core::range::Range;
use donjon_core::translation::address::{Level, PhysicalAddress, VirtualAddress};
use donjon_core::translation::descriptor::MappingKind;
use donjon_core::translation::frames::FrameTable;
use donjon_core::translation::inner_tables::{self, Mapping};
use donjon_core::user_tables::{self, ASIDS};

use crate::assembly::boot_arrival;
use crate::bridge::Behind;
use crate::failure::Failure;
use crate::hardware;
use crate::image::Image;
use crate::region::{Pages, Region};

/// `SCTLR_EL1` of a CPU that arrives: MMU and caches on, the RES1 bits, as in `start.S`.
const SCTLR_ARRIVAL: u64 = 0x30d0_1805;

const EXECUTABLE: u64 = 1;
const WRITABLE: u64 = 2;

/// Tables of the inner half: two slots with their levels, the map of the page that stays, and
/// some to spare.
const TABLES: u64 = 20;

/// One frame of RAM in this many may be a kernel table: bounds the metadata that is kept for them.
const POOL_SHARE: u64 = 64;
/// Fewest blocks of tables that there is metadata for.
const POOL_BLOCKS_MIN: u64 = 16;
/// One page of RAM in this many is for user tables. They are a cache: with less, processes fault
/// more often.
const USER_SHARE: u64 = 64;
/// Bytes of RAM for each compartment that there may be.
const COMPARTMENT_SHARE: u64 = 256 << 10;

/// Whether text and data are mapped in blocks, so that mode `tlbi` has few of them to invalidate.
fn in_blocks(mode: SwitchMode) -> bool {
    mode == SwitchMode::Tlbi
}

/// Bytes that the inner domain needs. `smmu`: whether it has the tables of one.
pub fn size(image: &Image, cpus: usize, banks: &[Range], smmu: bool) -> u64 {
    let metadata = Metadata::sizes(banks).map(|size| size.next_multiple_of(PAGE_SIZE));
    let pages = TABLES + 4 * banks.len() as u64 + 2 + cpus as u64 * (STACK_PAGES + 1);
    let segments: u64 = image
        .segments()
        .map(|(segment, _)| segment.memory_size.next_multiple_of(PAGE_SIZE))
        .sum();
    let windows = if in_blocks(image.switch_mode) {
        2 * WINDOW_SIZE
    } else {
        segments
    };
    // Parked CPUs, messages to a VideoCore, and secrets.
    let end = banks.iter().map(|it| it.end()).max();
    let smmu = end.filter(|_| smmu).map_or(0, hardware::size);
    windows + smmu + 3 * PAGE_SIZE + pages * PAGE_SIZE + metadata.iter().sum::<u64>()
}

/// What the inner domain knows about frames, and user tables: zeroed memory of its own.
pub struct Metadata {
    /// Types of all frames.
    pub frames: Bank,
    /// Metadata of pool frames.
    pub pool: Bank,
    /// User tables.
    pub user_arena: Bank,
    /// What is kept about each of their pages.
    pub user_cells: Bank,
    /// The user tree of each ASID.
    pub user_trees: Bank,
    /// Who has each private frame.
    pub private_words: Bank,
    /// What is kept about each block of them.
    pub private_blocks: Bank,
    /// Slots of compartments.
    pub compartments: Bank,
    /// The root of each.
    pub compartment_roots: Bank,
}

impl Metadata {
    /// Bytes of each.
    fn sizes(banks: &[Range]) -> [u64; 9] {
        let ram: u64 = banks.iter().map(|bank| bank.size()).sum();
        let blocks =
            (ram / POOL_SHARE / BLOCK_SIZE).clamp(POOL_BLOCKS_MIN, MAX_TABLE_BLOCKS as u64);
        let pages = (ram / USER_SHARE / PAGE_SIZE).max(user_tables::LEAST_PAGES);
        let hull = hull(banks);
        let frames = hull.map_or(0, FrameTable::entries_for);
        let private = hull.map_or(0, |it| Private::blocks_for(it.start(), it.end()));
        let slots = (ram / COMPARTMENT_SHARE).max(1);
        [
            frames * size_of::<u16>() as u64,
            blocks * (BLOCK_SIZE / PAGE_SIZE) * size_of::<PoolFrame>() as u64,
            pages * PAGE_SIZE,
            pages * size_of::<user_tables::Cell>() as u64,
            (ASIDS * size_of::<u32>()) as u64,
            frames * size_of::<u32>() as u64,
            private * size_of::<PrivateBlock>() as u64,
            slots * size_of::<Slot>() as u64,
            slots * size_of::<u64>() as u64,
        ]
    }
}

/// The range from the first byte of RAM to the last.
fn hull(banks: &[Range]) -> Option<Range> {
    let start = banks.iter().map(|bank| bank.start()).min()?;
    let end = banks.iter().map(|bank| bank.end()).max()?;
    Range::new(start, end)
}

/// The inner domain while it is being built.
pub struct Builder {
    region: Region,
    root: PhysicalAddress,
    gate: Option<PhysicalAddress>,
    invalidations: Vec<u64>,
    mode: SwitchMode,
    /// Pages of the device window that are used.
    devices: u64,
}

impl Builder {
    /// Starts with an empty table block at `block` and free memory in `region`.
    pub fn new(region: Range, block: u64, mode: SwitchMode) -> Result<Self, Failure> {
        // SAFETY: the block is part of Linux's image, where nothing but zeros and this table go;
        // Linux is not running yet.
        unsafe { core::ptr::write_bytes(block as *mut u8, 0, TABLE_BLOCK_SIZE as usize) };
        Ok(Self {
            region: Region::new(region),
            root: physical(block + ROOT_PAGE * PAGE_SIZE)?,
            gate: None,
            invalidations: Vec::new(),
            mode,
            devices: 0,
        })
    }

    /// Copies the image and maps it, the gate included.
    pub fn load(&mut self, image: &Image, block: u64) -> Result<(), Failure> {
        let blocks = in_blocks(self.mode);
        let mut windows = [
            (TEXT_WINDOW, MappingKind::InnerText),
            (DATA_WINDOW, MappingKind::InnerData),
        ]
        .map(|(address, kind)| (address, kind, None));
        if blocks {
            // Both before any table comes between them: they must not lose their alignment.
            for (_, _, place) in &mut windows {
                *place = Some(self.region.take(WINDOW_SIZE, BLOCK_SIZE)?);
            }
            for (address, kind, place) in windows {
                if let Some(memory) = place {
                    self.map(address, memory, WINDOW_SIZE, kind, Level::Two)?;
                }
            }
        }
        for (segment, bytes) in image.segments() {
            let window = windows
                .iter()
                .find(|(start, _, _)| (*start..*start + WINDOW_SIZE).contains(&segment.address));
            let memory = match window {
                Some((start, _, Some(memory))) => {
                    physical(memory.as_u64() + segment.address - start)?
                }
                _ => self.region.take(segment.memory_size, PAGE_SIZE)?,
            };
            copy(bytes, memory);
            if segment.address == GATE {
                self.map_gate(memory, block)?;
                self.gate = Some(memory);
            } else if !blocks {
                self.map_segment(&segment, memory)?;
            }
        }
        Ok(())
    }

    fn map_segment(&mut self, segment: &Segment, memory: PhysicalAddress) -> Result<(), Failure> {
        let kind = match segment.flags {
            flags if flags & EXECUTABLE != 0 => MappingKind::InnerText,
            flags if flags & WRITABLE != 0 => MappingKind::InnerData,
            _ => MappingKind::InnerReadOnly,
        };
        let size = segment.memory_size.next_multiple_of(PAGE_SIZE);
        self.map(segment.address, memory, size, kind, Level::Three)
    }

    /// The gate's tables are in the table block, and both halves of the root lead to them.
    fn map_gate(&mut self, memory: PhysicalAddress, block: u64) -> Result<(), Failure> {
        let page = |index| physical(block + index * PAGE_SIZE);
        // The one that is allocated last is used first.
        let lower = [page(GATE_L3_PAGE)?, page(GATE_L2_PAGE)?];
        let mut pages = Pages(&lower);
        inner_tables::link(&mut pages, self.root, GATE_SLOT, page(GATE_L1_PAGE)?, true)?;
        let mapping = mapping(GATE, memory, PAGE_SIZE, MappingKind::GateText, Level::Three)?;
        Ok(inner_tables::map(&mut pages, self.root, &mapping)?)
    }

    /// A stack and a CPU block for each CPU, with nothing mapped between them.
    pub fn map_stacks(&mut self, cpus: &CpuSet) -> Result<(), Failure> {
        let size = (STACK_PAGES + 1) * PAGE_SIZE;
        for (index, _) in cpus.iter() {
            let memory = self.region.take(size, PAGE_SIZE)?;
            let top = CPU_BLOCKS + index as u64 * STACK_STRIDE;
            let bottom = top - STACK_PAGES * PAGE_SIZE;
            self.map(bottom, memory, size, MappingKind::InnerData, Level::Three)?;
        }
        Ok(())
    }

    /// Maps registers of a device, within one page; returns their address in the inner view.
    pub fn map_device(&mut self, registers: u64) -> Result<u64, Failure> {
        let within = registers % PAGE_SIZE;
        let page = physical(registers - within)?;
        let address = DEVICE_WINDOW + self.devices * PAGE_SIZE;
        self.devices += 1;
        self.map(
            address,
            page,
            PAGE_SIZE,
            MappingKind::InnerDevice,
            Level::Three,
        )?;
        Ok(address + within)
    }

    /// Starts an SMMU that shows devices `window` alone.
    pub fn start_smmu(&mut self, window: &DeviceWindow, behind: &Behind) -> Result<(), Failure> {
        hardware::start(&mut self.region, window, behind)
    }

    /// Takes the page where CPUs wait to be started.
    pub fn take_parked_cpus(&mut self) -> Result<u64, Failure> {
        Ok(self.region.take(PAGE_SIZE, PAGE_SIZE)?.as_u64())
    }

    /// Takes the page for messages to the VideoCore.
    pub fn take_messages(&mut self) -> Result<u64, Failure> {
        Ok(self.region.take(PAGE_SIZE, PAGE_SIZE)?.as_u64())
    }

    /// Leaves secrets to the inner domain; returns where.
    pub fn store_secrets(&mut self, secrets: BootSecrets) -> Result<u64, Failure> {
        let page = self.region.take(PAGE_SIZE, PAGE_SIZE)?.as_u64();
        // SAFETY: a fresh page of the region, large and aligned enough.
        unsafe { (page as *mut BootSecrets).write(secrets) };
        Ok(page)
    }

    /// The inner domain's own view of RAM, in the largest blocks that fit.
    pub fn map_memory(&mut self, banks: &[Range]) -> Result<(), Failure> {
        for bank in banks {
            let start = physical(bank.start())?;
            let address = PHYSMAP + bank.start();
            self.map(
                address,
                start,
                bank.size(),
                MappingKind::InnerData,
                Level::One,
            )?;
        }
        Ok(())
    }

    fn map(
        &mut self,
        address: u64,
        memory: PhysicalAddress,
        size: u64,
        kind: MappingKind,
        largest: Level,
    ) -> Result<(), Failure> {
        let mapping = mapping(address, memory, size, kind, largest)?;
        inner_tables::map(&mut self.region, self.root, &mapping)?;
        if in_blocks(self.mode) {
            self.note_leaves(address, size);
        }
        Ok(())
    }

    /// One invalidation for each leaf of a mapping, by asking the tables how large each is.
    fn note_leaves(&mut self, address: u64, size: u64) {
        let mut at = address;
        while at < address + size {
            self.invalidations.push(at >> 12 & ((1 << 44) - 1));
            at += inner_tables::leaf_size(&self.region, self.root, at).unwrap_or(PAGE_SIZE);
        }
    }

    /// Writes the list of invalidations into the gate page; returns its length. Where there are
    /// more than it has room for, it is empty, and the gate invalidates everything.
    pub fn finish_gate(&mut self) -> Result<usize, Failure> {
        if self.invalidations.len() > GATE_TLBI_MAX {
            self.invalidations.clear();
        }
        let gate = self.gate.ok_or(Failure::NotPacked)?;
        let list = (gate.as_u64() + GATE_TLBI_LIST as u64) as *mut u64;
        for (index, entry) in self.invalidations.iter().chain([&0]).enumerate() {
            // SAFETY: inside the gate's page, which is identity-mapped memory of the region.
            unsafe { list.add(index).write_volatile(*entry) };
        }
        Ok(self.invalidations.len())
    }

    /// Takes the memory for the inner domain's metadata.
    pub fn take_metadata(&mut self, banks: &[Range]) -> Result<Metadata, Failure> {
        let [
            frames,
            pool,
            arena,
            cells,
            trees,
            words,
            blocks,
            slots,
            roots,
        ] = Metadata::sizes(banks);
        let mut take = |size| -> Result<Bank, Failure> {
            let start = self.region.take(size, PAGE_SIZE)?.as_u64();
            Ok(Bank {
                start,
                end: start + size,
            })
        };
        Ok(Metadata {
            frames: take(frames)?,
            pool: take(pool)?,
            user_arena: take(arena)?,
            user_cells: take(cells)?,
            user_trees: take(trees)?,
            private_words: take(words)?,
            private_blocks: take(blocks)?,
            compartments: take(slots)?,
            compartment_roots: take(roots)?,
        })
    }

    /// Leaves in the page that stays what a new CPU needs to reach `entry` of the inner domain:
    /// the inner half of the root, and a map of that page alone onto itself.
    pub fn prepare_arrivals(&mut self, stays: Range, entry: u64) -> Result<(), Failure> {
        // The lower range's tables have the same indices as the upper range's.
        const UPPER: u64 = 0xffff << 48;
        let lower = self.region.take(PAGE_SIZE, PAGE_SIZE)?;
        let page = physical(stays.start())?;
        let itself = mapping(
            UPPER | stays.start(),
            page,
            stays.size(),
            MappingKind::InnerText,
            Level::Three,
        )?;
        inner_tables::map(&mut self.region, lower, &itself)?;
        let arrival = Arrival {
            ttbr0: lower.as_u64(),
            ttbr1: self.root.as_u64() | u64::from(RESERVED_ASID) << 48,
            sctlr: SCTLR_ARRIVAL,
            entry,
        };
        // SAFETY: a static of plain words in our own image, which no other CPU reads yet.
        unsafe { (&raw mut boot_arrival).write_volatile(arrival) };
        Ok(())
    }

    /// Stores the inner domain's copy of `boot`; returns its address in the inner view.
    pub fn store(&mut self, boot: &BootInfo) -> Result<u64, Failure> {
        let page = self.region.take(size_of::<BootInfo>() as u64, PAGE_SIZE)?;
        // SAFETY: a fresh page of the region, large and aligned enough.
        unsafe { (page.as_u64() as *mut BootInfo).write(*boot) };
        Ok(PHYSMAP + page.as_u64())
    }

    /// Physical address of the root table.
    pub fn root(&self) -> u64 {
        self.root.as_u64()
    }
}

fn physical(address: u64) -> Result<PhysicalAddress, Failure> {
    PhysicalAddress::new(address).ok_or(Failure::Address(address))
}

fn mapping(
    address: u64,
    memory: PhysicalAddress,
    size: u64,
    kind: MappingKind,
    largest: Level,
) -> Result<Mapping, Failure> {
    Ok(Mapping {
        virtual_address: VirtualAddress::new(address).ok_or(Failure::Address(address))?,
        physical_address: memory,
        size,
        kind,
        largest,
    })
}

fn copy(bytes: &[u8], memory: PhysicalAddress) {
    // SAFETY: the memory is a piece of the region at least as long as the segment; the image is
    // elsewhere.
    unsafe {
        core::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.as_u64() as *mut u8, bytes.len());
    }
}
