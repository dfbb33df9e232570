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

/// Replaces entries in order, up to the first that is refused.
pub fn write_list([address, count, ..]: &Arguments) -> Outcome {
    let mut list = [TableEntry::default(); LIST_MAX];
    let list = copy_in(*address, *count, &mut list)?;
    let mut domain = domain::lock_after_handover()?;
    let refused = list.iter().enumerate().find_map(|(index, it)| {
        let outcome = domain.rules.write(&mut Executor, it.entry, it.value);
        outcome.err().map(|reason| (index as u64, reason))
    });
    cpu::publish_entries();
    drop(domain);
    let written = refused.map_or(*count, |(index, _)| index);
    CpuBlock::current().add(Counter::Entries, Function::TableWriteList as usize, written);
    match refused {
        None => Ok(written),
        Some((index, reason)) => Err(Refusal::rule_at(reason, index)),
    }
}

/// Gives tables back.
pub fn release([address, count, ..]: &Arguments) -> Outcome {
    let mut list = [0; RELEASE_MAX];
    let list = if *count == 0 {
        list[0] = *address;
        &list[..1]
    } else {
        copy_in(*address, *count, &mut list)?
    };
    let mut domain = domain::lock_after_handover()?;
    for (index, frame) in list.iter().enumerate() {
        domain
            .rules
            .release(&mut Executor, *frame)
            .map_err(|reason| Refusal::rule_at(reason, index as u64))?;
    }
    Ok(list.len() as u64)
}

/// Copies a list out of the outer domain's memory, before anything in it is looked at.
fn copy_in<T: Copy>(address: u64, count: u64, list: &mut [T]) -> Result<&[T], Refusal> {
    let list = usize::try_from(count)
        .ok()
        .filter(|count| *count > 0)
        .and_then(|count| list.get_mut(..count))
        .ok_or(Error::InvalidArgument)?;
    let machine = state::machine().ok_or(Error::Busy)?;
    let buffer = machine
        .outer
        .check(Allegation::new(address, size_of_val(list) as u64))
        .map_err(|_| Error::BadAddress)?;
    if !buffer.address().is_multiple_of(align_of::<T>() as u64) {
        return Err(Error::BadAddress.into());
    }
    // SAFETY: checked to be the outer domain's RAM, this long and aligned; lists are of plain
    // words.
    unsafe { physical::read_outer(buffer.address(), list) };
    Ok(list)
}

/// Makes a user root of a free table.
pub fn root_new([frame, ..]: &Arguments) -> Outcome {
    let mut domain = domain::lock_after_handover()?;
    let made = domain.rules.new_root(&mut Executor, *frame);
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
