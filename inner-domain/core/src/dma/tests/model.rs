// SPDX-License-Identifier: MIT OR Apache-2.0
//! An SMMUv3 that reads what it was given, written from Arm's IHI 0070 and sharing no constant with
//! the code under test.

use std::collections::BTreeMap;

use crate::dma::smmu::Registers;
use crate::translation::address::PhysicalAddress;
use crate::translation::inner_tables::TableMemory;

/// Memory in which tables are.
pub struct Memory {
    words: BTreeMap<u64, u64>,
    next: u64,
    first: u64,
    end: u64,
}

impl Memory {
    /// Makes memory whose pages are given out from `first` on.
    pub fn new(first: u64) -> Self {
        Self::with_pages(first, 1 << 16)
    }

    /// Makes memory that has this many pages.
    pub fn with_pages(first: u64, pages: u64) -> Self {
        Self {
            words: BTreeMap::new(),
            next: first,
            first,
            end: first + pages * 4096,
        }
    }

    /// Returns how many pages were given out.
    pub fn pages(&self) -> u64 {
        (self.next - self.first) / 4096
    }

    /// Writes a word.
    pub fn store(&mut self, address: u64, value: u64) {
        self.words.insert(address, value);
    }

    /// Reads a word.
    pub fn load(&self, address: u64) -> u64 {
        self.words.get(&address).copied().unwrap_or(0)
    }
}

impl TableMemory for Memory {
    fn allocate(&mut self) -> Option<PhysicalAddress> {
        let page = self.next;
        if page == self.end {
            return None;
        }
        self.next += 4096;
        PhysicalAddress::new(page)
    }

    fn read(&self, table: PhysicalAddress, index: usize) -> u64 {
        self.load(table.as_u64() + index as u64 * 8)
    }

    fn write(&mut self, table: PhysicalAddress, index: usize, value: u64) {
        self.store(table.as_u64() + index as u64 * 8, value);
    }
}

/// Why a request was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The SMMU is off, and requests would bypass it.
    Bypass,
    /// The stream has no valid entry, or one of a form that is not known here.
    BadStream(&'static str),
    /// The address is in no table.
    NotMapped,
}

/// Registers, and what they make of requests.
pub struct Smmu {
    memory: Memory,
    registers: BTreeMap<u64, u32>,
    commands: usize,
    /// Whether it was off at some time.
    pub was_off: bool,
    /// Whether nothing that is written has an effect.
    pub is_deaf: bool,
}

impl Smmu {
    /// Makes an SMMU as QEMU 7.2 has it, left on by firmware with a queue that was used.
    pub fn new(memory: Memory) -> Self {
        let registers = [
            (0x00, 0x0d40_101a),
            (0x04, 0x0271_0010),
            (0x14, 0x0000_0074),
            (0x20, 0x0000_000d),
            (0x24, 0x0000_000d),
            (0x80, 0x4321_0000),
            (0x98, 7),
            (0x9c, 7),
        ];
        Self {
            memory,
            registers: registers.into_iter().collect(),
            commands: 0,
            was_off: false,
            is_deaf: false,
        }
    }

    /// Sets a register, as hardware does.
    pub fn set(&mut self, offset: u64, value: u32) {
        self.registers.insert(offset, value);
    }

    /// Returns the memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns how many commands were carried out.
    pub fn commands_done(&self) -> usize {
        self.commands
    }

    fn long(&self, offset: u64) -> u64 {
        u64::from(self.read(offset)) | u64::from(self.read(offset + 4)) << 32
    }

    /// Carries out what is in the command queue.
    fn run(&mut self) {
        let base = self.long(0x90);
        let (start, bits) = (base & 0x000f_ffff_ffff_ffe0, base & 0x1f);
        let wrap = (2_u32 << bits) - 1;
        while self.read(0x20) & 8 != 0 && self.read(0x98) != self.read(0x9c) {
            let at = u64::from(self.read(0x9c)) & ((1 << bits) - 1);
            let opcode = self.memory.load(start + at * 16) & 0xff;
            let known = [0x04, 0x30, 0x46].contains(&opcode);
            assert!(known, "command {opcode:#x} at {:#x}", start + at * 16);
            self.commands += 1;
            self.set(0x9c, self.read(0x9c).wrapping_add(1) & wrap);
        }
    }

    /// Returns where a request of a stream lands, and whether it may be a write.
    pub fn translate(&self, stream: u64, address: u64) -> Result<(u64, bool), Fault> {
        if self.read(0x24) & 1 == 0 {
            return Err(Fault::Bypass);
        }
        let entry = self.stream_entry(stream)?;
        let context = self.memory.load(entry) & 0x000f_ffff_ffff_ffc0;
        let word = |index: u64| self.memory.load(context + 8 * index);
        let (first, root, mair) = (word(0), word(1), word(3));
        // V, AA64, and no upper range; 4 KiB.
        if first >> 31 & 1 == 0 || first >> 41 & 1 == 0 || first >> 30 & 1 == 0 {
            return Err(Fault::BadStream("context"));
        }
        if first >> 6 & 3 != 0 || first >> 44 & 1 != 0 {
            return Err(Fault::BadStream("granule, or stalls"));
        }
        let bits = 64 - (first & 0x3f);
        if !(31..=39).contains(&bits) || address >> bits != 0 {
            return Err(Fault::NotMapped);
        }
        self.walk(root & 0x000f_ffff_ffff_fff0, mair, address)
    }

    fn stream_entry(&self, stream: u64) -> Result<u64, Fault> {
        let configuration = u64::from(self.read(0x88));
        let (size, split) = (configuration & 0x3f, configuration >> 6 & 0x1f);
        if configuration >> 16 & 3 != 1 || stream >> size != 0 {
            return Err(Fault::BadStream("number"));
        }
        let first = (self.long(0x80) & 0x000f_ffff_ffff_ffc0) + (stream >> split) * 8;
        let descriptor = self.memory.load(first);
        let span = descriptor & 0x1f;
        let index = stream & ((1 << split) - 1);
        if span == 0 || index >> (span - 1) != 0 {
            return Err(Fault::BadStream("span"));
        }
        let entry = (descriptor & 0x000f_ffff_ffff_ffc0) + index * 64;
        let [zero, one] = [self.memory.load(entry), self.memory.load(entry + 8)];
        if zero & 0xf != 0b1011 {
            return Err(Fault::BadStream("no stage 1 alone"));
        }
        // Substreams, ATS, S1STALLD and a regime that is not EL1's.
        if zero >> 59 != 0 || one >> 27 & 0x1f != 0 {
            return Err(Fault::BadStream("something that is not there"));
        }
        Ok(entry)
    }

    fn walk(&self, root: u64, mair: u64, address: u64) -> Result<(u64, bool), Fault> {
        let mut table = root;
        for shift in [30, 21, 12] {
            let descriptor = self.memory.load(table + (address >> shift & 511) * 8);
            let output = descriptor & 0x0000_ffff_ffff_f000;
            match (descriptor & 3, shift) {
                (3, 30 | 21) => table = output,
                (1, 30 | 21) | (3, 12) => {
                    assert!(descriptor >> 10 & 1 == 1, "access flag");
                    assert!(descriptor >> 6 & 1 == 1, "unprivileged requests");
                    assert!(descriptor >> 53 & 3 == 3, "fetches");
                    let attributes = mair >> (8 * (descriptor >> 2 & 7)) & 0xff;
                    let wanted = if output < 0x1000_0000 { 0x04 } else { 0xff };
                    assert_eq!(attributes, wanted, "attributes of {address:#x}");
                    let offset = address & ((1 << shift) - 1);
                    return Ok((output + offset, descriptor >> 7 & 1 == 0));
                }
                _ => return Err(Fault::NotMapped),
            }
        }
        Err(Fault::NotMapped)
    }
}

impl Registers for Smmu {
    fn read(&self, offset: u64) -> u32 {
        self.registers.get(&offset).copied().unwrap_or(0)
    }

    fn write(&mut self, offset: u64, value: u32) {
        // Queues and tables are not to be changed while they are in use.
        let is_base = (0x80..0x98).contains(&offset);
        assert!(
            !is_base || self.read(0x24) & 9 == 0,
            "{offset:#x} while it is on"
        );
        match offset {
            _ if self.is_deaf => {}
            // It has no GBPA.
            0x44 => {}
            0x20 => {
                self.set(0x20, value);
                self.set(0x24, value);
                self.was_off |= value & 1 == 0;
            }
            other => self.set(other, value),
        }
        self.run();
    }

    fn write_long(&mut self, offset: u64, value: u64) {
        self.write(offset, value as u32);
        self.write(offset + 4, (value >> 32) as u32);
    }

    fn write_memory(&mut self, address: u64, value: u64) {
        self.memory.store(address, value);
    }
}
