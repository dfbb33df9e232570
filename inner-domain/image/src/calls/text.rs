// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code of the outer domain: patched, and made of data.

use donjon_abi::call::{Error, POKE_COPY, POKE_FILL, POKE_VALUE, Reason};
use donjon_abi::layout::PAGE_SIZE;
use donjon_core::frames::FrameType;
use donjon_core::outer_range::Allegation;
use donjon_core::scan;
use donjon_hal::steps::Executor;
use donjon_hal::{cpu, physical};

use crate::outcome::{Arguments, Outcome, Refusal};
use crate::{domain, state};

/// Instructions of a page.
const WORDS: usize = PAGE_SIZE as usize / 4;

/// Changes instructions within one page of text. All of them are scanned before the first is
/// written.
pub fn poke([address, source, bytes, kind, ..]: &Arguments) -> Outcome {
    let count = usize::try_from(*bytes / 4).map_err(|_| Error::InvalidArgument)?;
    let in_page = (*address % PAGE_SIZE)
        .checked_add(*bytes)
        .is_some_and(|end| end <= PAGE_SIZE);
    if count == 0 || bytes % 4 != 0 || address % 4 != 0 || !in_page {
        return Err(Error::InvalidArgument.into());
    }
    let mut words = [0; WORDS];
    let words = &mut words[..count];
    new_words(words, *source, *kind)?;
    if let Some((index, word)) = scan::first_refused(words.iter().copied()) {
        return Err(Refusal::instruction(index, word));
    }

    let domain = domain::lock_after_handover()?;
    let leaf = domain
        .rules
        .kernel_leaf(&Executor, *address)
        .filter(|leaf| {
            let text = [FrameType::KernelText, FrameType::ModuleText];
            leaf.frame
                .is_some_and(|frame| text.contains(&frame) || cfg!(feature = "weaken-poke"))
        })
        .ok_or(Refusal::rule(Reason::NotText))?;
    let target = leaf.page + address % PAGE_SIZE;
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
    unsafe { cpu::publish_text(target, *bytes) };
    Ok(0)
}

/// What is to be written.
fn new_words(words: &mut [u32], source: u64, kind: u64) -> Result<(), Refusal> {
    match kind {
        POKE_VALUE => match words {
            [word] => *word = source as u32,
            [low, high] => (*low, *high) = (source as u32, (source >> 32) as u32),
            _ => return Err(Error::InvalidArgument.into()),
        },
        POKE_COPY => {
            let machine = state::machine().ok_or(Error::Busy)?;
            let buffer = machine
                .outer
                .check(Allegation::new(source, size_of_val(words) as u64))
                .map_err(|_| Error::BadAddress)?;
            if buffer.address() % 4 != 0 {
                return Err(Error::BadAddress.into());
            }
            // SAFETY: checked to be the outer domain's RAM, this long and aligned.
            unsafe { physical::read_outer(buffer.address(), words) };
        }
        POKE_FILL => words.fill(source as u32),
        _ => return Err(Error::InvalidArgument.into()),
    }
    Ok(())
}

/// Replaces a page of data by an executable copy. The copy is what is scanned: nobody but the
/// inner domain can write it.
pub fn seal([address, ..]: &Arguments) -> Outcome {
    let mut domain = domain::lock_after_handover()?;
    let seal = domain
        .rules
        .seal_begin(&mut Executor, *address)
        .map_err(|reason| match reason {
            Reason::NoRoom => Error::NoMemory.into(),
            other => Refusal::rule(other),
        })?;
    let mut refused = None;
    // SAFETY: a page of the outer domain's memory, by its type.
    let words = unsafe { physical::words(seal.from) };
    for (index, word) in words.enumerate() {
        if scan::check(word) != scan::Verdict::Allowed {
            refused = Some((index, word));
            break;
        }
        // SAFETY: a free frame of the text pool, and the word was scanned.
        unsafe { physical::write_instruction(seal.to + index as u64 * 4, word) };
    }
    if let Some((index, word)) = refused {
        domain.rules.seal_abort(seal);
        return Err(Refusal::instruction(index, word));
    }
    // SAFETY: the frame is RAM, which the physical view maps.
    unsafe { cpu::publish_text(seal.to, PAGE_SIZE) };
    let sealed = domain.rules.seal_finish(&mut Executor, seal);
    sealed.map(|()| 0).map_err(Refusal::rule)
}
