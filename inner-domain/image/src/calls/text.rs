// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code of the outer domain: patched, and made of data.

use core::ops::Range;

use donjon_abi::call::{Error, POKE_COPY, POKE_FILL, POKE_MAX, POKE_STOPPED, POKE_VALUE, Reason};
use donjon_abi::layout::{PAGE_SIZE, cpu_index};
use donjon_core::code::{live_text, scan};
use donjon_core::kernel_tables::{KernelLeaf, Seal};
use donjon_core::memory::outer_range::Allegation;
use donjon_core::translation::frames::{FrameTable, FrameType};
use donjon_core::without;
use donjon_hal::steps::Executor;
use donjon_hal::{cpu, physical};

use super::text_wait;
use crate::checks::{Checks, Configured};
use crate::outcome::{Arguments, Outcome, Refusal};
use crate::{domain, state};

mod without;

/// Instructions of a page.
const WORDS: usize = PAGE_SIZE as usize / 4;
/// Instructions that one call scans and copies on their way into a page of text.
const SLICE: usize = WORDS / 4;

/// Changes instructions within one page of text. Every instruction is scanned before the first is
/// written.
///
/// While other CPUs may execute the page, each word changes within the list of [`live_text`] alone.
/// Any other change needs all other CPUs to wait inside ([`text_wait::wait`]); the lock is held
/// until it is complete, and they leave under the lock.
pub fn poke([address, source, bytes, kind, ..]: &Arguments) -> Outcome {
    let stopped = kind & POKE_STOPPED != 0;
    let kind = kind & !POKE_STOPPED;
    let count = usize::try_from(*bytes / 4).map_err(|_| Error::InvalidArgument)?;
    let in_page = (*address % PAGE_SIZE)
        .checked_add(*bytes)
        .is_some_and(|end| end <= PAGE_SIZE);
    if !(1..=POKE_MAX / 4).contains(&count) || bytes % 4 != 0 || address % 4 != 0 || !in_page {
        return Err(Error::InvalidArgument.into());
    }
    let mut words = [0; POKE_MAX / 4];
    let words = &mut words[..count];
    new_words(words, *source, kind)?;
    if let Some((index, word)) = scan::first_refused(words.iter().copied()) {
        return Err(Refusal::instruction(index, word));
    }

    let domain = domain::lock_after_handover()?;
    let leaf = domain
        .pools
        .tables
        .kernel_leaf(&Executor, *address)
        .filter(is_text)
        .ok_or(Refusal::rule(Reason::NotText))?;
    let target = leaf.page + address % PAGE_SIZE;
    // SAFETY: text by its type, aligned and within the page. Only this call writes it.
    let old = unsafe { physical::items::<u32>(target, count as u64) };
    let live = old
        .zip(words.iter())
        .all(|(old, new)| live_text::may_change(old, *new));
    let alone = domain.rendezvous.others_wait(cpu_index(cpu::mpidr()));
    if !live && !alone && Configured::LIVE_TEXT.is_made() {
        return Err(if stopped {
            Error::Busy.into()
        } else {
            Refusal::rule(Reason::LiveText)
        });
    }
    without!(
        READ_ONCE,
        without::copy_list_changed(words, (*source, kind), domain.pools.tables.frames())?
    );
    if let ([low, high], true) = (&*words, target.is_multiple_of(8)) {
        // A CPU that reads the pair as a pointer sees the old or the new one.
        let pair = u64::from(*high) << 32 | u64::from(*low);
        // SAFETY: text by its type, aligned, and both words were scanned.
        unsafe { physical::write_instruction_pair(target, pair) };
    } else {
        for (offset, word) in (0..).step_by(4).zip(words.iter()) {
            // SAFETY: text by its type, within the page, and the word was scanned.
            unsafe { physical::write_instruction(target + offset, *word) };
        }
    }
    // SAFETY: the range is RAM, which the physical view maps.
    unsafe { cpu::sync_icache_all_cpus(target, *bytes) };
    if stopped {
        text_wait::note_change();
    }
    Ok(0)
}

/// Whether an address leads to text, and EL1 may execute it there. What is only an alias of text
/// is no address to change it at.
fn is_text(leaf: &KernelLeaf) -> bool {
    let text = [FrameType::KernelText, FrameType::ModuleText];
    let by_type = leaf.frame.is_some_and(|frame| text.contains(&frame));
    (by_type || !Configured::POKE.is_made()) && (leaf.executable || !Configured::ALIAS.is_made())
}

/// What is to be written.
fn new_words(words: &mut [u32], source: u64, kind: u64) -> Result<(), Refusal> {
    match kind {
        POKE_VALUE => match words {
            [word] => *word = source as u32,
            [low, high] => (*low, *high) = (source as u32, (source >> 32) as u32),
            _ => return Err(Error::InvalidArgument.into()),
        },
        // Until it is read, the frame keeps its type.
        POKE_COPY => copy_list(
            words,
            source,
            domain::lock_after_handover()?.pools.tables.frames(),
        )?,
        POKE_FILL => words.fill(source as u32),
        _ => return Err(Error::InvalidArgument.into()),
    }
    Ok(())
}

/// Copies a list of the outer domain's.
fn copy_list(words: &mut [u32], source: u64, frames: &FrameTable<'_>) -> Result<(), Refusal> {
    let machine = state::machine().ok_or(Error::Busy)?;
    let alleged = Allegation::new(source, size_of_val(words) as u64);
    let buffer = machine
        .outer
        .check(alleged, frames)
        .map_err(|_| Error::BadAddress)?;
    if buffer.address() % 4 != 0 {
        return Err(Error::BadAddress.into());
    }
    // SAFETY: checked to be the outer domain's RAM, this long and aligned.
    unsafe { physical::read_outer(buffer.address(), words) };
    Ok(())
}

/// Replaces a page of data by an executable copy, a slice in each call. The copy is what is
/// scanned: the inner domain alone can write it. One page at a time is on its way; a call for a
/// different page abandons it.
pub fn seal([address, ..]: &Arguments) -> Outcome {
    let mut domain = domain::lock_after_handover()?;
    let domain = &mut *domain;
    let (seal, from) = match domain.sealing.take() {
        Some((seal, done)) if seal.address() == *address => {
            let resumed = domain.pools.tables.seal_resume(&Executor, seal);
            (resumed.map_err(Refusal::rule)?, done)
        }
        other => {
            if let Some((abandoned, _)) = other {
                domain.pools.tables.seal_abort(abandoned);
            }
            let begun = domain.pools.tables.seal_begin(&mut Executor, *address);
            (begun.map_err(no_room_or_rule)?, 0)
        }
    };
    let until = WORDS.min(from + SLICE);
    if let Err(refusal) = copy_scanned(&seal, from..until) {
        domain.pools.tables.seal_abort(seal);
        return Err(refusal);
    }
    if until < WORDS {
        domain.sealing = Some((seal, until));
        return Ok(1);
    }
    // SAFETY: the frame is RAM, which the physical view maps.
    unsafe { cpu::sync_icache_all_cpus(seal.to, PAGE_SIZE) };
    let sealed = domain.pools.tables.seal_finish(&mut Executor, seal);
    sealed.map(|()| 0).map_err(Refusal::rule)
}

fn no_room_or_rule(reason: Reason) -> Refusal {
    match reason {
        Reason::NoRoom => Error::NoMemory.into(),
        other => Refusal::rule(other),
    }
}

/// Copies words of the page, each read once and scanned, up to the first that is refused.
fn copy_scanned(seal: &Seal, range: Range<usize>) -> Result<(), Refusal> {
    for (index, word) in range.clone().zip(outer_words(seal, &range)) {
        if scan::check(word) != scan::ScanResult::Allowed {
            return Err(Refusal::instruction(index, word));
        }
        put_word(seal, index, word);
    }
    without!(READ_ONCE, without::copy_changed(seal, &range));
    Ok(())
}

/// Words of the page as the outer domain's memory has them now.
fn outer_words(seal: &Seal, range: &Range<usize>) -> impl Iterator<Item = u32> {
    let offset = range.start as u64 * 4;
    // SAFETY: within a page that is the outer domain's memory: the lock has been held since that
    // was checked. Whatever is read is scanned before it is code.
    unsafe { physical::items(seal.from + offset, range.len() as u64) }
}

fn put_word(seal: &Seal, index: usize, word: u32) {
    // SAFETY: a frame of the text pool that is not mapped yet, and the word was scanned.
    unsafe { physical::write_instruction(seal.to + index as u64 * 4, word) };
}
