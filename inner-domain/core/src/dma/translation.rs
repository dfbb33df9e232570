// SPDX-License-Identifier: MIT OR Apache-2.0
//! The translation tables of devices: a device's address is the physical one.
//!
//! Stage 1, granule of 4 KiB, 39 bits of addresses, so walks begin at level 1 (Arm DDI 0487,
//! D8.2). Leaves are as large as fits.

use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};
use thiserror::Error;

use super::window::{Access, DeviceWindow};
use crate::range::Range;
use crate::translation::address::{ENTRIES, PhysicalAddress};
use crate::translation::inner_tables::TableMemory;

/// End of the addresses that a walk translates.
pub const END: u64 = 1 << 39;

const GIB: u64 = 1 << 30;
/// A valid entry.
const VALID: u64 = 1;
/// An entry of level 1 or 2 that names a table, and one of level 3 that names a page.
const TABLE_OR_PAGE: u64 = 2;
/// Attributes 0 of [`MAIR`].
const MEMORY: u64 = 0;
/// Attributes 1 of [`MAIR`].
const DOORBELL: u64 = 1 << 2;
/// AP\[1\]: both privileges, so that it does not matter which one a device claims.
const UNPRIVILEGED: u64 = 1 << 6;
/// AP\[2\].
const READ_ONLY: u64 = 1 << 7;
/// SH\[1:0\]: Inner Shareable.
const SHAREABLE: u64 = 3 << 8;
/// AF.
const ACCESSED: u64 = 1 << 10;
/// PXN and UXN: devices fetch no instructions from it.
const NO_FETCH: u64 = 3 << 53;
/// Bits 47 to 12.
const ADDRESS: u64 = 0xffff_ffff_f000;

/// Memory attributes by their number: 0 is Normal, write-back; 1 is Device-nGnRE.
pub const MAIR: u64 = 0x04ff;

/// Why the tables could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TranslationError {
    /// There is RAM behind the last address that the tables translate.
    #[error("devices would have to reach {0:#x}, and their tables end at {END:#x}")]
    TooHigh(u64),
    /// There were not enough pages for tables.
    #[error("there is too little memory for the tables of devices")]
    OutOfTables,
    /// Something stands there already.
    #[error("{0:#x} is in the tables of devices twice")]
    Twice(u64),
}

/// Returns how many tables [`build`] takes at most, its root included, for RAM that ends at `end`:
/// one for each GiB, and one for each end of a piece that lies within a block of 2 MiB.
pub const fn most_tables(end: u64) -> u64 {
    1 + end.div_ceil(GIB) + 2 * super::window::MAX_PIECES as u64 + 2
}

/// Fills the tables below `root`, a zeroed page: the pieces of `window`, and the page `doorbell` to
/// which devices write to raise interrupts.
///
/// # Errors
///
/// A [`TranslationError`]; the tables are not to be used then.
pub fn build(
    memory: &mut impl TableMemory,
    root: PhysicalAddress,
    window: &DeviceWindow,
    doorbell: Option<u64>,
) -> Result<(), TranslationError> {
    for piece in window.pieces() {
        let access = match piece.access {
            Access::Read => READ_ONLY,
            Access::ReadWrite => 0,
        };
        map(memory, root, piece.range, MEMORY | access)?;
    }
    if let Some(page) = doorbell.and_then(|it| Range::with_size(it & !(PAGE_SIZE - 1), PAGE_SIZE)) {
        map(memory, root, page, DOORBELL)?;
    }
    Ok(())
}

fn map(
    memory: &mut impl TableMemory,
    root: PhysicalAddress,
    range: Range,
    attributes: u64,
) -> Result<(), TranslationError> {
    if range.end() > END {
        return Err(TranslationError::TooHigh(range.end()));
    }
    let attributes = attributes | UNPRIVILEGED | SHAREABLE | ACCESSED | NO_FETCH | VALID;
    let mut at = range.start();
    while at < range.end() {
        let fits = |size: u64| at.is_multiple_of(size) && range.end() - at >= size;
        let size = [GIB, BLOCK_SIZE].into_iter().find(|it| fits(*it));
        let size = size.unwrap_or(PAGE_SIZE);
        let mut table = root;
        for level in [GIB, BLOCK_SIZE, PAGE_SIZE] {
            let index = (at / level) as usize % ENTRIES;
            if level == size {
                if memory.read(table, index) != 0 {
                    return Err(TranslationError::Twice(at));
                }
                let kind = if level == PAGE_SIZE { TABLE_OR_PAGE } else { 0 };
                memory.write(table, index, at | attributes | kind);
                break;
            }
            table = below(memory, table, index, at)?;
        }
        at += size;
    }
    Ok(())
}

/// The table that an entry names, which is made if there is none.
fn below(
    memory: &mut impl TableMemory,
    table: PhysicalAddress,
    index: usize,
    at: u64,
) -> Result<PhysicalAddress, TranslationError> {
    let entry = memory.read(table, index);
    if entry == 0 {
        let next = memory.allocate().ok_or(TranslationError::OutOfTables)?;
        memory.write(table, index, next.as_u64() | VALID | TABLE_OR_PAGE);
        return Ok(next);
    }
    let is_table = entry & (VALID | TABLE_OR_PAGE) == VALID | TABLE_OR_PAGE;
    let next = PhysicalAddress::new(entry & ADDRESS).filter(|_| is_table);
    next.ok_or(TranslationError::Twice(at))
}
