// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the inner domain's translation tables.
//!
//! The tables are reached through [`TableMemory`], so that the boot stage (MMU off), the inner
//! domain (its physical view) and a host test use the same code. Every change is checked
//! before it is made: one that fails leaves the live tree as it was.
//!
//! No cache or TLB maintenance happens here: only invalid entries become valid, which needs no
//! invalidation (Arm DDI 0487, D8.17), and the barriers are the caller's.

use donjon_abi::layout::{PAGE_SIZE, ROOT_HALF};
use thiserror::Error;

use crate::translation::address::{ENTRIES, Level, PhysicalAddress, VirtualAddress};
use crate::translation::descriptor::{Descriptor, MappingKind};

/// Where translation tables live. `index` is always below 512.
pub trait TableMemory {
    /// A page of zeros for a new table, or none when there is no more.
    fn allocate(&mut self) -> Option<PhysicalAddress>;
    /// The descriptor at `index` of `table`.
    fn read(&self, table: PhysicalAddress, index: usize) -> u64;
    /// Replaces the descriptor at `index` of `table`.
    fn write(&mut self, table: PhysicalAddress, index: usize, value: u64);
}

/// A range of virtual addresses and what it is to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address, page-aligned.
    pub virtual_address: VirtualAddress,
    /// What it shows, page-aligned.
    pub physical_address: PhysicalAddress,
    /// Bytes, a multiple of 4 KiB and not 0.
    pub size: u64,
    /// Permissions and memory type.
    pub kind: MappingKind,
    /// The largest leaf allowed: level 1, 2 or 3.
    pub largest: Level,
}

/// Why a mapping was refused. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MapError {
    /// An address or the size is not a multiple of 4 KiB, or the size is 0.
    #[error(
        "{size:#x} bytes at {virtual_address} to {physical_address} are not a whole number of pages"
    )]
    Misaligned {
        /// First virtual address.
        virtual_address: VirtualAddress,
        /// First physical address.
        physical_address: PhysicalAddress,
        /// Bytes.
        size: u64,
    },
    /// The range goes past its root slot.
    #[error("{size:#x} bytes at {virtual_address} go past their root slot")]
    LeavesSlot {
        /// First virtual address.
        virtual_address: VirtualAddress,
        /// Bytes.
        size: u64,
    },
    /// The range goes past the last physical address.
    #[error("{size:#x} bytes at {physical_address} go past the last physical address")]
    LeavesPhysicalMemory {
        /// First physical address.
        physical_address: PhysicalAddress,
        /// Bytes.
        size: u64,
    },
    /// Level 0 has no leaves.
    #[error("level 0 has no leaves")]
    NoSuchLeaf,
    /// A table does not begin a page.
    #[error("table {table} does not begin a page")]
    MisalignedTable {
        /// The address given.
        table: PhysicalAddress,
    },
    /// The number of a root slot is not in 0 to 255.
    #[error("there is no root slot {slot}")]
    NoSuchSlot {
        /// The number given.
        slot: usize,
    },
    /// An entry that would have to change is valid.
    #[error("entry {index} of table {table} is already valid: {descriptor:#x}")]
    AlreadyMapped {
        /// The table.
        table: PhysicalAddress,
        /// The entry in it.
        index: usize,
        /// What stands there.
        descriptor: u64,
    },
    /// The memory has fewer free tables than needed. Those that it had are lost.
    #[error("{needed} translation tables are needed and there are only {available}")]
    OutOfTables {
        /// Tables that the mapping takes.
        needed: usize,
        /// Tables that there were.
        available: usize,
    },
}

/// Adds `mapping` to the tree below `root`, the root table of 512 entries, which VA\[47:39\]
/// indexes: slot k of the inner view is entry 256 + k.
///
/// Each part of the range gets the largest leaf that fits its alignment, up to
/// `mapping.largest`.
///
/// # Errors
///
/// Any [`MapError`] about a mapping; no reachable table has changed then.
pub fn map(
    memory: &mut impl TableMemory,
    root: PhysicalAddress,
    mapping: &Mapping,
) -> Result<(), MapError> {
    check(mapping)?;
    let span = Span {
        virtual_address: mapping.virtual_address.as_u64(),
        physical_address: mapping.physical_address.as_u64(),
        size: mapping.size,
    };
    let needed = missing_tables(memory, Some(root), Level::Zero, span, mapping.largest)?;
    let mut stock = Stock::gather(memory, needed)?;
    commit(memory, &mut stock, root, Level::Zero, span, mapping);
    Ok(())
}

/// Puts a table descriptor for `table_l1` into root entry 256 + `slot`, and into entry `slot` as
/// well when the slot is `shared` with the outer view.
///
/// # Errors
///
/// [`NoSuchSlot`](MapError::NoSuchSlot) from 256 on, [`MisalignedTable`](MapError::MisalignedTable)
/// when `table_l1` does not begin a page, and [`AlreadyMapped`](MapError::AlreadyMapped) when
/// either entry of the slot is valid, also for an inner-only slot: its outer entry stays invalid
/// for ever. Nothing has changed then.
pub fn link(
    memory: &mut impl TableMemory,
    root: PhysicalAddress,
    slot: usize,
    table_l1: PhysicalAddress,
    shared: bool,
) -> Result<(), MapError> {
    if slot >= ROOT_HALF {
        return Err(MapError::NoSuchSlot { slot });
    }
    if !table_l1.is_page() {
        return Err(MapError::MisalignedTable { table: table_l1 });
    }
    for index in [slot, ROOT_HALF + slot] {
        vacant(memory, root, index, Level::Zero)?;
    }
    let descriptor = Descriptor::table(table_l1).encode();
    memory.write(root, ROOT_HALF + slot, descriptor);
    if shared {
        memory.write(root, slot, descriptor);
    }
    Ok(())
}

/// Bytes of the leaf that maps `address`, or none when nothing does.
///
/// `address` is a virtual address of the upper range; `root` as for [`map`].
pub fn leaf_size(memory: &impl TableMemory, root: PhysicalAddress, address: u64) -> Option<u64> {
    let address = VirtualAddress::new(address)?;
    let mut table = root;
    for level in [Level::Zero, Level::One, Level::Two, Level::Three] {
        let raw = memory.read(table, address.index(level));
        match Descriptor::decode(raw, level) {
            Descriptor::Table { next, .. } => table = next,
            Descriptor::Block { .. } | Descriptor::Page { .. } => return Some(level.size()),
            Descriptor::Invalid => return None,
        }
    }
    None
}

fn check(mapping: &Mapping) -> Result<(), MapError> {
    let Mapping {
        virtual_address,
        physical_address,
        size,
        ..
    } = *mapping;
    if mapping.largest == Level::Zero {
        return Err(MapError::NoSuchLeaf);
    }
    let whole = size != 0 && size.is_multiple_of(PAGE_SIZE);
    if !whole || !virtual_address.is_aligned(PAGE_SIZE) || !physical_address.is_page() {
        return Err(MapError::Misaligned {
            virtual_address,
            physical_address,
            size,
        });
    }
    let slot = virtual_address.index(Level::Zero);
    match virtual_address.checked_add(size - 1) {
        Some(last) if last.index(Level::Zero) == slot => {}
        _ => {
            return Err(MapError::LeavesSlot {
                virtual_address,
                size,
            });
        }
    }
    if physical_address.checked_add(size - 1).is_none() {
        return Err(MapError::LeavesPhysicalMemory {
            physical_address,
            size,
        });
    }
    Ok(())
}

/// The part of a mapping that one table, or one entry of it, is responsible for.
#[derive(Clone, Copy)]
struct Span {
    virtual_address: u64,
    physical_address: u64,
    size: u64,
}

impl Span {
    /// Cuts off the part that the first entry concerned of a table of `level` is responsible
    /// for; none when nothing is left.
    fn next(&mut self, level: Level) -> Option<Self> {
        if self.size == 0 {
            return None;
        }
        let to_boundary = level.size() - self.virtual_address % level.size();
        let size = to_boundary.min(self.size);
        let part = Self { size, ..*self };
        // The very last part may end at 2^64; nothing reads the address after that.
        self.virtual_address = self.virtual_address.wrapping_add(size);
        self.physical_address += size;
        self.size -= size;
        Some(part)
    }

    fn index(self, level: Level) -> usize {
        (self.virtual_address >> level.shift()) as usize % ENTRIES
    }

    /// Whether one leaf of `level` shows exactly this part.
    fn is_leaf(self, level: Level, largest: Level) -> bool {
        level >= largest
            && self.size == level.size()
            && self.physical_address.is_multiple_of(level.size())
    }
}

fn vacant(
    memory: &impl TableMemory,
    table: PhysicalAddress,
    index: usize,
    level: Level,
) -> Result<(), MapError> {
    let descriptor = memory.read(table, index);
    match Descriptor::decode(descriptor, level) {
        Descriptor::Invalid => Ok(()),
        _ => Err(MapError::AlreadyMapped {
            table,
            index,
            descriptor,
        }),
    }
}

/// Checks that every entry concerned is free and counts the tables that are missing. `table` is
/// none where the table itself is one of them.
fn missing_tables(
    memory: &impl TableMemory,
    table: Option<PhysicalAddress>,
    level: Level,
    mut span: Span,
    largest: Level,
) -> Result<usize, MapError> {
    let mut missing = 0;
    while let Some(part) = span.next(level) {
        let index = part.index(level);
        let (false, Some(below)) = (part.is_leaf(level, largest), level.next()) else {
            if let Some(table) = table {
                vacant(memory, table, index, level)?;
            }
            continue;
        };
        let next = match table {
            None => None,
            Some(table) => {
                let descriptor = memory.read(table, index);
                match Descriptor::decode(descriptor, level) {
                    Descriptor::Invalid => None,
                    Descriptor::Table { next, .. } => Some(next),
                    Descriptor::Block { .. } | Descriptor::Page { .. } => {
                        return Err(MapError::AlreadyMapped {
                            table,
                            index,
                            descriptor,
                        });
                    }
                }
            }
        };
        missing += usize::from(next.is_none());
        missing += missing_tables(memory, next, below, part, largest)?;
    }
    Ok(missing)
}

/// Zeroed tables that are set aside before the first change, each naming the next one in its
/// entry 0. That is a page-aligned number, hence an invalid descriptor at every moment.
struct Stock(Option<PhysicalAddress>);

impl Stock {
    fn gather(memory: &mut impl TableMemory, needed: usize) -> Result<Self, MapError> {
        let mut first = None;
        for available in 0..needed {
            let Some(table) = memory.allocate() else {
                return Err(MapError::OutOfTables { needed, available });
            };
            if let Some(next) = first {
                memory.write(table, 0, PhysicalAddress::as_u64(next));
            }
            first = Some(table);
        }
        Ok(Self(first))
    }

    fn take(&mut self, memory: &mut impl TableMemory) -> Option<PhysicalAddress> {
        let table = self.0?;
        self.0 = match memory.read(table, 0) {
            0 => None,
            next => PhysicalAddress::new(next),
        };
        memory.write(table, 0, 0);
        Some(table)
    }
}

/// Makes the change that [`missing_tables`] found possible.
fn commit(
    memory: &mut impl TableMemory,
    stock: &mut Stock,
    table: PhysicalAddress,
    level: Level,
    mut span: Span,
    mapping: &Mapping,
) {
    while let Some(part) = span.next(level) {
        let index = part.index(level);
        if part.is_leaf(level, mapping.largest) {
            let output = PhysicalAddress::new(part.physical_address);
            let leaf = output.and_then(|output| Descriptor::leaf(level, output, mapping.kind));
            if let Some(leaf) = leaf {
                memory.write(table, index, leaf.encode());
            }
            continue;
        }
        let Some(below) = level.next() else { continue };
        match Descriptor::decode(memory.read(table, index), level) {
            Descriptor::Table { next, .. } => commit(memory, stock, next, below, part, mapping),
            _ => {
                // Filled before it is linked: no walk sees a half-built table.
                if let Some(next) = stock.take(memory) {
                    commit(memory, stock, next, below, part, mapping);
                    memory.write(table, index, Descriptor::table(next).encode());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
