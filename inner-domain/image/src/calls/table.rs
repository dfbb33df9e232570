// SPDX-License-Identifier: MIT OR Apache-2.0
//! Entries of kernel tables, and the tables.

use donjon_abi::call::{Counter, Error, Function, LIST_MAX, RELEASE_MAX, TableEntry};
use donjon_core::memory::outer_range::Allegation;
use donjon_core::translation::frames::FrameTable;
use donjon_core::without;
use donjon_hal::cpu;
use donjon_hal::physical;
use donjon_hal::steps::Executor;
use zerocopy::FromBytes;

use crate::outcome::{Arguments, Outcome, Refusal};
use crate::per_cpu::PerCpu;
use crate::{domain, state};

mod without;

/// Replaces one entry; gives the old value.
pub fn write([entry, value, ..]: &Arguments) -> Outcome {
    let mut domain = domain::lock_after_handover()?;
    let old = domain.pools.tables.write(&mut Executor, *entry, *value);
    cpu::dsb_ishst();
    old.map_err(Refusal::rule)
}

/// Replaces entries in order, up to the first that is refused, or as far as one call may go.
pub fn write_list([address, count, ..]: &Arguments) -> Outcome {
    let mut domain = domain::lock_after_handover()?;
    let frames = *domain.pools.tables.frames();
    let list = list::<TableEntry>(&frames, *address, *count, LIST_MAX)?;
    domain.pools.tables.begin_list();
    let mut written = 0;
    let mut refused = None;
    for TableEntry { entry, value } in list {
        if let Err(reason) = domain.pools.tables.write(&mut Executor, entry, value) {
            refused = Some(reason);
            break;
        }
        without!(
            LIST,
            without::write_changed(&frames, *address, written, TableEntry { entry, value })
        );
        written += 1;
        if domain.pools.tables.is_budget_exhausted() {
            break;
        }
    }
    cpu::dsb_ishst();
    drop(domain);
    PerCpu::current().add(Counter::Entries, Function::TableWriteList as usize, written);
    match refused {
        None => Ok(written),
        Some(reason) => Err(Refusal::rule_at(reason, written)),
    }
}

/// Gives tables back, up to the first that is refused, or as far as one call may go.
pub fn release([address, count, ..]: &Arguments) -> Outcome {
    if *count == 0 {
        let mut domain = domain::lock_after_handover()?;
        let released = domain.pools.tables.release(&mut Executor, *address);
        return released
            .map(|()| 1)
            .map_err(|reason| Refusal::rule_at(reason, 0));
    }
    let mut domain = domain::lock_after_handover()?;
    let frames = *domain.pools.tables.frames();
    let list = list::<u64>(&frames, *address, *count, RELEASE_MAX)?;
    domain.pools.tables.begin_list();
    let mut released = 0;
    for frame in list {
        domain
            .pools
            .tables
            .release(&mut Executor, frame)
            .map_err(|reason| Refusal::rule_at(reason, released))?;
        released += 1;
        if domain.pools.tables.is_budget_exhausted() {
            break;
        }
    }
    Ok(released)
}

/// A list in the outer domain's memory, while the protected state is locked. Each item is read
/// once, when it is asked for: what is checked is what is done, whatever is written to the list
/// meanwhile.
fn list<T: Copy + FromBytes>(
    frames: &FrameTable<'_>,
    address: u64,
    count: u64,
    most: usize,
) -> Result<impl Iterator<Item = T> + use<T>, Refusal> {
    if count == 0 || count > most as u64 {
        return Err(Error::InvalidArgument.into());
    }
    let machine = state::machine().ok_or(Error::Busy)?;
    let alleged = Allegation::new(address, count * size_of::<T>() as u64);
    let buffer = machine
        .outer
        .check(alleged, frames)
        .map_err(|_| Error::BadAddress)?;
    if !buffer.address().is_multiple_of(align_of::<T>() as u64) {
        return Err(Error::BadAddress.into());
    }
    // SAFETY: checked to be the outer domain's RAM, this long and aligned.
    Ok(unsafe { physical::items(buffer.address(), count) })
}
