// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of the trust in Linux.

extern crate alloc;

use alloc::vec;
use alloc::vec::Vec;

use crate::checks::{Checks, Configured};
use donjon_abi::call::{Error, Handover, Reason};
use donjon_abi::layout::{PAGE_SIZE, cpu_index};
use donjon_abi::tcr::{self, RESERVED_ASID};
use donjon_core::code::{scan, vectors};
use donjon_core::cpu::registers::{Difference, TranslationRegisters, compare};
use donjon_core::handover::{self, BadInstruction, Fault, HandoverError};
use donjon_core::kernel_tables::KernelLeaf;
use donjon_core::memory::outer_range::Allegation;
use donjon_core::range::Range;
use donjon_core::translation::frames::FrameType;
use donjon_hal::steps::Executor;
use donjon_hal::{cpu, physical, registers};

use crate::domain::Domain;
use crate::outcome::{Arguments, Outcome, Refusal};
use crate::state::MachineInfo;
use crate::{domain, logger, state, user_tables};

/// Takes the machine over, or with 0 looks at this CPU's registers afterwards.
pub fn handover([address, ..]: &Arguments) -> Outcome {
    let machine = state::machine().ok_or(Error::Busy)?;
    if *address == 0 {
        check_this_cpu(machine)
    } else {
        take_over(machine, *address)
    }
}

fn take_over(machine: &MachineInfo, address: u64) -> Outcome {
    let mut domain = domain::lock()?;
    let said = description(machine, &domain, address)?;
    if domain.registers.is_some() {
        return Err(Refusal::rule(Reason::WrongTime));
    }
    let boot = &machine.boot;
    let range = |start, end| Range::new(start, end).ok_or(Refusal::rule(Reason::BadMachine));
    let mut inner = vec![
        range(boot.region.start, boot.region.end)?,
        range(boot.stays.start, boot.stays.end)?,
    ];
    if Configured::RESERVED.is_made() {
        inner.extend(&machine.reserved);
    }
    let written = boot.reached.iter();
    let written = written.filter(|it| it.is_written != 0 && Configured::WINDOW.is_in_code());
    let written = written.map(|it| range(it.pages.start, it.pages.end));
    let written: Vec<Range> = written.collect::<Result<_, _>>()?;
    let parts = handover::MachineParts {
        root: boot.root,
        table_block: range(boot.table_block.start, boot.table_block.end)?,
        banks: &machine.banks,
        inner: &inner,
        written: &written,
    };
    let taken = handover::take_over(
        &mut domain.pools.tables,
        &mut Executor,
        &parts,
        &said,
        scan_frame,
    );
    cpu::dsb_ishst();
    match taken {
        Ok(summary) => {
            let here = registers::translation();
            let vectors = domain.pools.tables.kernel_leaf(&Executor, said.vectors);
            check_vectors(vectors, &said, &here)?;
            user_tables::begin();
            domain.registers = Some(here);
            domain.rendezvous.check_all();
            drop(domain);
            log::info!("hand-over: {summary:?}");
            Ok(0)
        }
        Err(error) => {
            drop(domain);
            logger::announce(format_args!("hand-over refused: {error}"));
            Err(refusal(&error))
        }
    }
}

/// Checks that the CPU has the vectors which Linux named, that they will not change, and that they
/// compare `TCR_EL1`; and the memory attributes that all mappings were judged by.
fn check_vectors(
    leaf: Option<KernelLeaf>,
    said: &Handover,
    here: &TranslationRegisters,
) -> Result<(), Refusal> {
    let refuse = |what: &str, value: u64| {
        logger::announce(format_args!("hand-over refused: {what} {value:#x}"));
        Err(Refusal::rule(Reason::BadRegister))
    };
    if here.vbar != said.vectors {
        return refuse("VBAR_EL1 is not the vectors but", here.vbar);
    }
    if here.mair != tcr::MAIR {
        return refuse("MAIR_EL1 is", here.mair);
    }
    let Some(leaf) = leaf.filter(|it| it.frame == Some(FrameType::KernelVectors)) else {
        return refuse("no page of its own for the vectors at", said.vectors);
    };
    let start = leaf.page + said.vectors % PAGE_SIZE;
    let word = |offset| {
        // SAFETY: within the page of the vectors, which is RAM; 2 KiB aligned, and offsets stay
        // below 1 KiB.
        let words = unsafe { physical::items::<u32>(start + offset, 1) };
        words.last().unwrap_or(0)
    };
    match vectors::slot_without_comparison(said.vectors, word) {
        Some(slot) => refuse("no comparison in the vector slot", slot),
        None => Ok(()),
    }
}

/// Linux's words, copied before they are looked at.
fn description(machine: &MachineInfo, domain: &Domain, address: u64) -> Result<Handover, Refusal> {
    let alleged = Allegation::new(address, size_of::<Handover>() as u64);
    let buffer = machine
        .outer
        .check(alleged, domain.pools.tables.frames())
        .map_err(|_| Error::BadAddress)?;
    if !buffer.address().is_multiple_of(8) {
        return Err(Error::BadAddress.into());
    }
    let mut said = Handover::default();
    // SAFETY: checked to be the outer domain's RAM, this long and aligned.
    unsafe { physical::read_outer(buffer.address(), core::slice::from_mut(&mut said)) };
    Ok(said)
}

fn scan_frame(frame: u64) -> Result<(), BadInstruction> {
    // SAFETY: a frame of RAM, by the tables that lead to it.
    let words = unsafe { physical::items::<u32>(frame, PAGE_SIZE / 4) };
    match scan::first_refused(words) {
        None => Ok(()),
        Some((index, instruction)) => Err(BadInstruction {
            offset: index * 4,
            instruction,
        }),
    }
}

fn refusal(error: &HandoverError) -> Refusal {
    match error {
        HandoverError::Entry {
            fault:
                Fault::Instruction {
                    offset,
                    instruction,
                    ..
                },
            ..
        } => Refusal::instruction(offset / 4, *instruction),
        _ => Refusal::rule(Reason::BadMachine),
    }
}

/// Checks that this CPU has the registers that were recorded, and loads the root that maps nothing.
/// Each CPU calls it after the hand-over, before anything else runs on it. The result is which CPUs
/// that run have still to come here, a bit each.
fn check_this_cpu(machine: &MachineInfo) -> Outcome {
    const ASID_SHIFT: u32 = 48;
    let mut domain = domain::lock_after_handover()?;
    let root_of_all = machine.boot.root | u64::from(RESERVED_ASID) << ASID_SHIFT;
    let recorded = domain.registers.ok_or(Error::Busy)?;
    let (here, features) = (registers::translation(), registers::memory_features());
    if let Err(difference) = compare(&recorded, &here, features, root_of_all) {
        let mpidr = cpu::mpidr();
        logger::announce(format_args!(
            "hand-over refused: CPU {mpidr:#x}: {difference}"
        ));
        return Err(Refusal::rule(match difference {
            Difference::Lacks(_) => Reason::BadMachine,
            _ => Reason::BadRegister,
        }));
    }
    let index = cpu_index(cpu::mpidr());
    // What this CPU had was a root of Linux's. It goes on without one.
    let users = user_tables::get()?;
    users.tables.begin(&mut Executor, index);
    domain.rendezvous.checked(index);
    Ok(u64::from(domain.rendezvous.unchecked()))
}
