// SPDX-License-Identifier: MIT OR Apache-2.0
//! Power for the USB controller of a Raspberry Pi, which the VideoCore switches ("Mailbox property
//! interface", Raspberry Pi's firmware documentation). Linux may not ask for it.

extern crate alloc;

use alloc::boxed::Box;

use donjon_core::devices::Window;
use donjon_core::range::Range;
use donjon_hal::cpu;
use donjon_hal::mailbox::Mailbox;

use crate::report;

/// Number of the property channel, in the low bits of a word.
const CHANNEL: u32 = 8;
/// Tag that sets the power of a device.
const SET_POWER: u32 = 0x2_8001;
/// The USB controller.
const USB: u32 = 3;
/// Switched on, and the answer comes when it has power.
const ON_AND_WAIT: u32 = 0b11;
/// The device has power; no such device.
const IS_ON: u32 = 1;
const IS_ABSENT: u32 = 2;
/// Place of the power's state in the message.
const STATE: usize = 6;
/// How often the mailbox is looked at.
const PATIENCE: u32 = 10_000_000;

/// Whole cache lines, so that nothing else is written back over the answer.
#[repr(C, align(256))]
struct Message([u32; 64]);

/// Switches the USB controller on. `mailbox` is where its registers are mapped, and `bus` where the
/// VideoCore sees memory. A failure is only reported: the controller may have power already.
pub fn switch_on_usb(mailbox: u64, bus: Window) {
    match ask(mailbox, bus) {
        Some(state) if state & (IS_ON | IS_ABSENT) == IS_ON => {}
        Some(state) => report::line(&format_args!(
            "the firmware gives USB no power: state {state:#x}"
        )),
        None => report::line(&format_args!(
            "the firmware does not answer a question for USB's power"
        )),
    }
}

/// What the firmware answers; none without an answer.
fn ask(mailbox: u64, bus: Window) -> Option<u32> {
    let mut message = Box::new(Message([0; 64]));
    message.0[..8].copy_from_slice(&[32, 0, SET_POWER, 8, 8, USB, ON_AND_WAIT, 0]);
    let place = &raw mut *message;
    let range = Range::with_size(place as u64, size_of::<Message>() as u64)?;
    let within = range.start().checked_sub(bus.parent)?;
    if within + range.size() > bus.size {
        return None;
    }
    let address = u32::try_from(bus.child + within).ok()?;
    // SAFETY: the boot stage's own memory. The VideoCore does not look into caches.
    unsafe { cpu::clean_to_coherency(range.start(), range.size()) };
    // SAFETY: the device tree names a mailbox there, and Linux does not run yet.
    let mailbox = unsafe { Mailbox::new(mailbox) }?;
    // What firmware or boot loader have left there.
    while mailbox.receive().is_some() {}
    let word = address | CHANNEL;
    let answered = mailbox.send(word) && (0..PATIENCE).any(|_| mailbox.receive() == Some(word));
    if !answered {
        return None;
    }
    cpu::wait_for_accesses();
    // SAFETY: the boot stage's own memory, of which cached lines are dropped.
    unsafe { cpu::clean_to_coherency(range.start(), range.size()) };
    // SAFETY: within the message, which is aligned to words.
    Some(unsafe { (&raw const (*place).0[STATE]).read_volatile() })
}
