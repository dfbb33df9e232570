// SPDX-License-Identifier: MIT OR Apache-2.0
//! User tables: filled, emptied, switched.

use donjon_abi::call::{Error, Process, Reason};
use donjon_abi::layout::cpu_index;
use donjon_core::user_tables::Fill;
use donjon_hal::steps::Executor;
use donjon_hal::{cpu, registers};

use crate::outcome::{Arguments, Outcome, Refusal};
use crate::{domain, state, user_tables};

/// [`map`] for one page on the fast path. False if it is something else, or takes longer.
#[inline(always)]
pub fn map_page_fast(process: u64, va: u64, source: u64, count: u64) -> bool {
    let Some(users) = user_tables::fast().filter(|_| count == 1) else {
        return false;
    };
    let (tables, frames) = (&users.tables, &users.frames);
    tables.map_page_fast(&mut Executor, frames, Process(process), va, source)
}

/// [`map`] for several pages on the fast path. False if it is something else, or takes longer.
#[inline(always)]
pub fn map_pages_fast(process: u64, va: u64, source: u64, count: u64) -> bool {
    let Some(users) = user_tables::fast().filter(|_| count != 1) else {
        return false;
    };
    let (tables, frames) = (&users.tables, &users.frames);
    let fill = Fill { va, source, count };
    tables.map_pages_fast(&mut Executor, frames, Process(process), fill)
}

/// Takes page descriptors over, behind the fast path.
pub fn map([process, va, source, count, ..]: &Arguments) -> Outcome {
    let users = user_tables::get()?;
    let fill = Fill {
        va: *va,
        source: *source,
        count: *count,
    };
    let (tables, frames) = (&users.tables, &users.frames);
    let process = Process(*process);
    let mapped = match user_tables::fast() {
        Some(_) => tables.map_slow(&mut Executor, frames, process, fill),
        None => tables.map(&mut Executor, frames, process, fill),
    };
    match mapped {
        Ok(None) => Ok(0),
        Ok(Some((index, reason))) => Err(Refusal::rule_at(reason, index)),
        Err(reason) => Err(Refusal::rule_at(reason, 0)),
    }
}

/// Takes a block descriptor over.
pub fn map_block([process, va, source, ..]: &Arguments) -> Outcome {
    let users = user_tables::get()?;
    let process = Process(*process);
    let mapped = users
        .tables
        .map_block(&mut Executor, &users.frames, process, *va, *source);
    match mapped {
        Ok(None) => Ok(0),
        Ok(Some(reason)) | Err(reason) => Err(Refusal::rule_at(reason, 0)),
    }
}

/// Drops a range, as far as one call may go.
pub fn flush([process, start, end, ..]: &Arguments) -> Outcome {
    let users = user_tables::get()?;
    let flushed = users
        .tables
        .flush(&mut Executor, Process(*process), *start, *end);
    Ok(flushed)
}

/// Reads again what is writable, or makes it read-only, as far as one call may go.
pub fn refresh([process, first, protect, ..]: &Arguments) -> Outcome {
    let users = user_tables::get()?;
    let (tables, frames) = (&users.tables, &users.frames);
    let (process, first) = (Process(*process), *first != 0);
    let done = match *protect {
        0 => tables.refresh(&mut Executor, frames, process, first),
        _ => tables.protect(&mut Executor, process, first),
    };
    Ok(u64::from(!done))
}

/// Drops all that a tree has.
pub fn clear([process, ..]: &Arguments) -> Outcome {
    let users = user_tables::get()?;
    users.tables.clear(&mut Executor, Process(*process));
    Ok(0)
}

/// Drops a tree.
pub fn free([process, ..]: &Arguments) -> Outcome {
    let users = user_tables::get()?;
    let freed = users.tables.free(&mut Executor, Process(*process));
    freed.map(|()| 0).map_err(Refusal::rule)
}

/// [`switch_root`] on the fast path, to a tree that is there and this process's. False if it is
/// something else.
#[inline(always)]
pub fn switch_root_fast(process: u64) -> bool {
    let Some(users) = user_tables::fast() else {
        return false;
    };
    let cpu = cpu_index(cpu::mpidr());
    users
        .tables
        .switch_fast(&mut Executor, cpu, Process(process))
}

/// Loads the tree of a process, or with 0 the root that maps nothing, on this CPU. Before the
/// hand-over the root that Linux names.
pub fn switch_root([process, root, ..]: &Arguments) -> Outcome {
    let Some(users) = user_tables::live() else {
        return load_before_handover(*process, *root);
    };
    let cpu = cpu_index(cpu::mpidr());
    let switched = users.tables.switch(&mut Executor, cpu, Process(*process));
    switched.map(|()| 0).map_err(Refusal::rule)
}

#[cold]
fn load_before_handover(process: u64, root: u64) -> Outcome {
    let machine = state::machine().ok_or(Error::Busy)?;
    // The hand-over holds the lock until users are live.
    let _domain = domain::lock()?;
    if user_tables::live().is_some() {
        return Err(Refusal::rule(Reason::WrongTime));
    }
    let asid = Process(process).asid();
    registers::set_ttbr0(match root {
        0 => machine.boot.reserved_root,
        root => root | u64::from(asid) << 48,
    });
    Ok(0)
}
