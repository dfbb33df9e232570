// SPDX-License-Identifier: MIT OR Apache-2.0
//! Questions to the VideoCore of a Raspberry Pi.
//!
//! The message stands in a page of the inner memory: what was checked is what the firmware reads,
//! and its answer goes there and nowhere else. Linux cannot write the mailbox. It can read it, for
//! the page is that of its interrupt controller, and take an answer away; then the call stays busy,
//! which is Linux's loss alone.

use core::sync::atomic::{Ordering, fence};

use donjon_abi::boot_info::BootInfo;
use donjon_abi::call::{Error, PROPERTIES_MAX};
use donjon_abi::layout::PHYSMAP;
use donjon_core::devices::properties::{
    BUFFER, HEADER, MESSAGE, Message, Question, TAG, is_answer,
};
use donjon_core::memory::outer_range::{Allegation, WritableBuffer};
use donjon_hal::mailbox::Mailbox;
use donjon_hal::{cpu, physical};

use crate::domain::{self, Domain};
use crate::outcome::{Arguments, Outcome, Refusal};
use crate::state::{self, MachineInfo};

/// Where the VideoCore sees memory without its cache: `dma-ranges` of the trees of model 3.
const BUS: u64 = 0xc000_0000;
/// Number of the property channel, in the low bits of a word.
const CHANNEL: u32 = 8;
/// How often a call looks for the answer. Linux gets the CPU back after that.
const LOOKS: u32 = 50;
/// Most words that wait in the mailbox.
const WAITING: u32 = 16;

const _: () = assert!(PROPERTIES_MAX == (TAG + BUFFER) * 4);

/// Sends a question that is on the list, or looks for the answer that has not come. The protected
/// state is locked throughout, so one CPU at a time has mailbox and message.
pub fn ask([address, bytes, ..]: &Arguments) -> Outcome {
    let machine = state::machine().ok_or(Error::Busy)?;
    // SAFETY: the boot stage mapped these registers for good, and Linux may map them read-only.
    let mailbox = unsafe { Mailbox::new(machine.boot.mailbox) }.ok_or(Error::InvalidArgument)?;
    let count = usize::try_from(*bytes / 4).map_err(|_| Error::InvalidArgument)?;
    if bytes % 4 != 0 || !(1..=PROPERTIES_MAX / 4).contains(&count) || address % 4 != 0 {
        return Err(Error::InvalidArgument.into());
    }
    // It reaches one GiB.
    let word = u32::try_from(BUS + machine.boot.messages).map_err(|_| Error::InvalidArgument)?;
    let word = word | CHANNEL;
    let mut domain = domain::lock()?;
    buffer(machine, &domain, *address, *bytes)?;
    let mut words = [0; TAG + BUFFER];
    let words = &mut words[..count];
    // SAFETY: RAM by the check, aligned to words.
    unsafe { physical::read_outer(*address, words) };
    // A record of the refusal names the tag.
    let tag = u64::from(words[0]);
    let question = Question::of(words).map_err(|it| Refusal::rule_at(it, tag))?;
    let asked = match domain.asked {
        Some(asked) => asked,
        None => {
            // What firmware or boot loader have left there.
            for _ in 0..WAITING {
                mailbox.receive();
            }
            store(&machine.boot, &question.message());
            if !mailbox.send(word) {
                return Err(Error::Busy.into());
            }
            domain.asked = Some(question);
            question
        }
    };
    if !(0..LOOKS).any(|_| mailbox.receive() == Some(word)) {
        return Err(Error::Busy.into());
    }
    let answer = load(&machine.boot);
    if !is_answer(&answer) {
        // It is another word that looks like this one: the firmware has the message still.
        return Err(Error::Busy.into());
    }
    domain.asked = None;
    if asked != question {
        // Linux has given that one up.
        return Err(Error::Busy.into());
    }
    let buffer = buffer(machine, &domain, *address, *bytes)?;
    // Behind the tag and the size of the buffer, which are Linux's.
    let words = (8..).step_by(4).zip(&answer[HEADER + 2..HEADER + count]);
    for (offset, word) in words {
        physical::write_outer(&buffer, offset, &word.to_le_bytes());
    }
    Ok(u64::from(answer[1]))
}

/// The caller's buffer, as long as the protected state is locked.
fn buffer<'a>(
    machine: &MachineInfo,
    domain: &'a Domain,
    address: u64,
    bytes: u64,
) -> Result<WritableBuffer<'a>, Error> {
    machine
        .outer
        .check(
            Allegation::new(address, bytes),
            domain.pools.tables.frames(),
        )
        .and_then(|buffer| buffer.writable(domain.pools.tables.frames()))
        .map_err(|_| Error::BadAddress)
}

fn store(boot: &BootInfo, message: &Message) {
    let page = (PHYSMAP + boot.messages) as *mut u32;
    for (index, word) in message.iter().enumerate() {
        // SAFETY: the page is the inner domain's, for these messages alone.
        unsafe { page.add(index).write_volatile(*word) };
    }
    write_back_and_drop(boot);
}

fn load(boot: &BootInfo) -> Message {
    // The mailbox was read, a device; what follows is memory.
    cpu::wait_for_accesses();
    write_back_and_drop(boot);
    let page = (PHYSMAP + boot.messages) as *const u32;
    // SAFETY: within the page of messages, which the inner domain alone has and the physical view
    // maps.
    core::array::from_fn(|index| unsafe { page.add(index).read_volatile() })
}

/// The VideoCore does not see the caches of the CPUs. Before the message is sent its lines are
/// written back and dropped; before the answer is read those that were fetched meanwhile are
/// dropped.
fn write_back_and_drop(boot: &BootInfo) {
    fence(Ordering::SeqCst);
    // SAFETY: mapped for good.
    unsafe { cpu::clean_to_coherency(PHYSMAP + boot.messages, MESSAGE as u64 * 4) };
}
