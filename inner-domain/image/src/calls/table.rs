// SPDX-License-Identifier: MIT OR Apache-2.0
//! Table entries, tables and roots.

use donjon_abi::call::{Counter, Error, Function, LIST_MAX, RELEASE_MAX, TableEntry};
use donjon_core::outer_range::Allegation;
use donjon_hal::cpu;
use donjon_hal::physical;
use donjon_hal::registers;
use donjon_hal::steps::Executor;

use crate::cpu_block::CpuBlock;
use crate::outcome::{Arguments, Outcome, Refusal};
use crate::{domain, state};

/// Replaces one entry; gives the old value.
pub fn write([entry, value, ..]: &Arguments) -> Outcome {
    let mut domain = domain::lock_after_handover()?;
    let old = domain.rules.write(&mut Executor, *entry, *value);
    cpu::publish_entries();
    old.map_err(Refusal::rule)
}

/// Replaces entries in order, up to the first that is refused, or as far as one call may go.
pub fn write_list([address, count, ..]: &Arguments) -> Outcome {
    let list = list::<TableEntry>(*address, *count, LIST_MAX)?;
    let mut domain = domain::lock_after_handover()?;
    domain.rules.begin_list();
    let mut written = 0;
    let mut refused = None;
    for TableEntry { entry, value } in list {
        if let Err(reason) = domain.rules.write(&mut Executor, entry, value) {
            refused = Some(reason);
            break;
        }
        written += 1;
        if domain.rules.is_tired() {
            break;
        }
    }
    cpu::publish_entries();
    drop(domain);
    CpuBlock::current().add(Counter::Entries, Function::TableWriteList as usize, written);
    match refused {
        None => Ok(written),
        Some(reason) => Err(Refusal::rule_at(reason, written)),
    }
}

/// Gives tables back, up to the first that is refused, or as far as one call may go.
pub fn release([address, count, ..]: &Arguments) -> Outcome {
    if *count == 0 {
        let mut domain = domain::lock_after_handover()?;
        let released = domain.rules.release(&mut Executor, *address);
        return released
            .map(|()| 1)
            .map_err(|reason| Refusal::rule_at(reason, 0));
    }
    let list = list::<u64>(*address, *count, RELEASE_MAX)?;
    let mut domain = domain::lock_after_handover()?;
    domain.rules.begin_list();
    let mut released = 0;
    for frame in list {
        domain
            .rules
            .release(&mut Executor, frame)
            .map_err(|reason| Refusal::rule_at(reason, released))?;
        released += 1;
        if domain.rules.is_tired() {
            break;
        }
    }
    Ok(released)
}

/// A list in the outer domain's memory. Each item is read once, when it is asked for: what is
/// checked is what is done, whoever writes the list meanwhile.
fn list<T: Copy>(
    address: u64,
    count: u64,
    most: usize,
) -> Result<impl Iterator<Item = T>, Refusal> {
    if count == 0 || count > most as u64 {
        return Err(Error::InvalidArgument.into());
    }
    let machine = state::machine().ok_or(Error::Busy)?;
    let buffer = machine
        .outer
        .check(Allegation::new(address, count * size_of::<T>() as u64))
        .map_err(|_| Error::BadAddress)?;
    if !buffer.address().is_multiple_of(align_of::<T>() as u64) {
        return Err(Error::BadAddress.into());
    }
    // SAFETY: checked to be the outer domain's RAM, this long and aligned; lists are of plain
    // words.
    Ok(unsafe { physical::items(buffer.address(), count) })
}

/// Makes a user root of a free table.
pub fn root_new([frame, ..]: &Arguments) -> Outcome {
    let mut domain = domain::lock_after_handover()?;
    let made = domain.rules.new_root(&mut Executor, *frame);
    #[cfg(feature = "trace-steps")]
    made.iter()
        .for_each(|()| donjon_hal::trace::new_root(*frame));
    made.map(|()| 0).map_err(Refusal::rule)
}

/// Loads a root and its ASID. Before the hand-over any root, after it a checked one.
pub fn switch_root([root, asid, ..]: &Arguments) -> Outcome {
    let machine = state::machine().ok_or(Error::Busy)?;
    let mut domain = domain::lock()?;
    let ttbr0 = if domain.controlled.is_some() {
        let cpu = donjon_abi::layout::cpu_index(registers::mpidr());
        domain
            .rules
            .switch_root(&mut Executor, cpu, *root, *asid)
            .map_err(Refusal::rule)?
    } else if *root == 0 {
        machine.boot.reserved_root
    } else {
        root | asid << 48
    };
    registers::set_ttbr0(ttbr0);
    Ok(0)
}
