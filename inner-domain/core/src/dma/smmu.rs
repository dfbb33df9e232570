// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registers of an SMMUv3: whether it can do what is asked of it, and how it is started (Arm
//! IHI 0070, 6.3).

use thiserror::Error;

use super::streams::{STREAM_BITS, STRTAB_BASE_CFG};
use crate::translation::address::PhysicalAddress;

/// Offsets of registers.
pub mod offset {
    /// What the SMMU implements.
    pub const IDR0: u64 = 0x0;
    /// Sizes of what it implements.
    pub const IDR1: u64 = 0x4;
    /// Sizes of addresses and granules.
    pub const IDR5: u64 = 0x14;
    /// Enables.
    pub const CR0: u64 = 0x20;
    /// Enables that have taken effect.
    pub const CR0ACK: u64 = 0x24;
    /// Attributes of its own accesses.
    pub const CR1: u64 = 0x28;
    /// What it accepts.
    pub const CR2: u64 = 0x2c;
    /// What happens to requests while it is off.
    pub const GBPA: u64 = 0x44;
    /// Enables of its interrupts.
    pub const IRQ_CTRL: u64 = 0x50;
    /// Base of the stream table, 64 bits.
    pub const STRTAB_BASE: u64 = 0x80;
    /// Form of the stream table.
    pub const STRTAB_BASE_CFG: u64 = 0x88;
    /// Base of the command queue, 64 bits.
    pub const CMDQ_BASE: u64 = 0x90;
    /// Where the next command goes.
    pub const CMDQ_PROD: u64 = 0x98;
    /// Which command comes next.
    pub const CMDQ_CONS: u64 = 0x9c;
}

/// `CR0.SMMUEN`.
pub const SMMUEN: u32 = 1;
/// `CR0.CMDQEN`.
const CMDQEN: u32 = 1 << 3;
/// `CR0.ATSCHK`: translated requests are not believed.
const ATSCHK: u32 = 1 << 4;
/// [`offset::CR0`] from the start on.
pub const CR0: u32 = SMMUEN | ATSCHK;
/// [`offset::CR1`]: tables and queues are Inner Shareable, write-back.
pub const CR1: u32 = 0xd75;
/// [`offset::CR2`]: RECINVSID and PTM, so that a CPU's broadcasts do not reach it.
pub const CR2: u32 = 1 << 1 | 1 << 2;
/// `GBPA.ABORT` and `GBPA.UPDATE`.
const ABORT: u32 = 1 << 20;
const UPDATE: u32 = 1 << 31;
/// RA of a base register: reads allocate.
const READ_ALLOCATE: u64 = 1 << 62;
/// Entries of the command queue, as a power of two. Each is 16 bytes.
const QUEUE_BITS: u32 = 4;
/// Bytes of the command queue, and what it is aligned to.
pub const QUEUE_SIZE: u64 = 16 << QUEUE_BITS;
/// How often a register is looked at before the SMMU counts as one that does not answer.
const PATIENCE: u32 = 1_000_000;

/// The registers of an SMMU, by their offsets.
pub trait Registers {
    /// Reads a register of 32 bits.
    fn read(&self, offset: u64) -> u32;
    /// Writes a register of 32 bits.
    fn write(&mut self, offset: u64, value: u32);
    /// Writes a register of 64 bits.
    fn write_long(&mut self, offset: u64, value: u64);
    /// Writes a word of memory that the SMMU reads, and makes it visible to the SMMU.
    fn write_memory(&mut self, address: u64, value: u64);
}

/// Why an SMMU cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SmmuError {
    /// The SMMU does not implement what is needed.
    #[error("the SMMU has {0}")]
    Lacks(&'static str),
    /// A register does not become what was written.
    #[error("the SMMU's register {offset:#x} is {found:#x} and not {wanted:#x}")]
    NoAnswer {
        /// The register.
        offset: u64,
        /// What it should have become.
        wanted: u32,
        /// What it is.
        found: u32,
    },
}

/// Where the structures of an SMMU are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structures {
    /// First level of the stream table.
    pub streams: PhysicalAddress,
    /// Command queue of [`QUEUE_SIZE`] bytes.
    pub commands: PhysicalAddress,
}

/// Checks that the SMMU can translate as the tables want it.
///
/// # Errors
///
/// [`SmmuError::Lacks`].
pub fn check(registers: &impl Registers) -> Result<(), SmmuError> {
    let (idr0, idr1) = (registers.read(offset::IDR0), registers.read(offset::IDR1));
    let idr5 = registers.read(offset::IDR5);
    let field = |word: u32, shift: u32, bits: u32| word >> shift & ((1 << bits) - 1);
    let wants = [
        (field(idr0, 1, 1) == 1, "no stage 1"),
        (field(idr0, 2, 2) & 0b10 != 0, "no tables of AArch64"),
        (
            field(idr0, 24, 2) != 0b10,
            "stalls that cannot be forbidden",
        ),
        (field(idr0, 27, 2) == 0b01, "no stream table of two levels"),
        (field(idr1, 29, 2) == 0, "tables or queues at fixed places"),
        (
            field(idr1, 0, 6) >= STREAM_BITS,
            "too few bits of StreamIDs",
        ),
        (field(idr5, 4, 1) == 1, "no granule of 4 KiB"),
        (field(idr5, 0, 3) >= 0b010, "too few bits of addresses"),
    ];
    let lacks = wants.into_iter().find(|it| !it.0);
    lacks.map_or(Ok(()), |it| Err(SmmuError::Lacks(it.1)))
}

/// Starts the SMMU. Firmware may have left it on, with tables of its own. Whatever is cached is
/// dropped before requests are translated, and requests meanwhile end where the SMMU can do that.
///
/// # Errors
///
/// [`SmmuError::NoAnswer`]; devices have to be silent then.
pub fn start(registers: &mut impl Registers, structures: &Structures) -> Result<(), SmmuError> {
    set_abort(registers);
    set(registers, offset::CR0, offset::CR0ACK, 0)?;
    registers.write(offset::IRQ_CTRL, 0);
    registers.write(offset::CR1, CR1);
    registers.write(offset::CR2, CR2);
    let streams = structures.streams.as_u64() | READ_ALLOCATE;
    registers.write_long(offset::STRTAB_BASE, streams);
    registers.write(offset::STRTAB_BASE_CFG, STRTAB_BASE_CFG);
    let commands = structures.commands.as_u64();
    let base = commands | READ_ALLOCATE | u64::from(QUEUE_BITS);
    registers.write_long(offset::CMDQ_BASE, base);
    registers.write(offset::CMDQ_PROD, 0);
    registers.write(offset::CMDQ_CONS, 0);
    set(registers, offset::CR0, offset::CR0ACK, CMDQEN)?;
    drop_cached(registers, commands)?;
    // The queue is never used again.
    set(registers, offset::CR0, offset::CR0ACK, CR0)?;
    let wanted = [
        (offset::CR1, CR1),
        (offset::CR2, CR2),
        (offset::STRTAB_BASE_CFG, STRTAB_BASE_CFG),
    ];
    for (offset, wanted) in wanted {
        let found = registers.read(offset);
        if found != wanted {
            return Err(SmmuError::NoAnswer {
                offset,
                wanted,
                found,
            });
        }
    }
    Ok(())
}

/// Has requests end while the SMMU is off. Not every SMMU has this register: it reads as zero, and
/// what is written is lost.
fn set_abort(registers: &mut impl Registers) {
    let is_idle = |registers: &_| Registers::read(registers, offset::GBPA) & UPDATE == 0;
    if (0..PATIENCE).any(|_| is_idle(registers)) {
        registers.write(offset::GBPA, UPDATE | ABORT);
        // Whether it helped does not matter: devices are silent.
        let _ = (0..PATIENCE).any(|_| is_idle(registers));
    }
}

/// Writes a register, and waits until the register at `answer` says the same.
fn set(
    registers: &mut impl Registers,
    offset: u64,
    answer: u64,
    value: u32,
) -> Result<(), SmmuError> {
    registers.write(offset, value);
    // ATSCHK has no effect, and need not be acknowledged, where there is no ATS.
    let wanted = value & !ATSCHK;
    if (0..PATIENCE).any(|_| registers.read(answer) & !ATSCHK == wanted) {
        return Ok(());
    }
    Err(SmmuError::NoAnswer {
        offset: answer,
        wanted,
        found: registers.read(answer),
    })
}

fn wait(registers: &impl Registers, offset: u64, wanted: u32) -> Result<(), SmmuError> {
    if (0..PATIENCE).any(|_| registers.read(offset) == wanted) {
        return Ok(());
    }
    Err(SmmuError::NoAnswer {
        offset,
        wanted,
        found: registers.read(offset),
    })
}

/// Drops configurations and translations that are cached (IHI 0070, 4.3.4, 4.4.4 and 4.7.3).
fn drop_cached(registers: &mut impl Registers, commands: u64) -> Result<(), SmmuError> {
    const CFGI_ALL: [u64; 2] = [0x04, 31];
    const TLBI_NSNH_ALL: [u64; 2] = [0x30, 0];
    const SYNC: [u64; 2] = [0x46, 0];
    let list = [CFGI_ALL, TLBI_NSNH_ALL, SYNC];
    for (index, words) in list.iter().enumerate() {
        for (word, value) in words.iter().enumerate() {
            registers.write_memory(commands + (index * 16 + word * 8) as u64, *value);
        }
    }
    let count = list.len() as u32;
    registers.write(offset::CMDQ_PROD, count);
    wait(registers, offset::CMDQ_CONS, count)
}
