// SPDX-License-Identifier: MIT OR Apache-2.0
//! A library in a compartment. It exchanges messages with a second compartment, and its messages
//! are on the heap, where a compartment without a heap faults.

#![no_std]
#![no_main]

use core::ptr;

use donjon_compartment_protocol::FAILED;
use donjon_loops::{Errand, Library, Link, MESSAGE, PAGE, marker};
use donjon_runtime::{HEAP, entry, grow, receive, send};

fn call([errand, first, seed, begins]: [u64; 4]) -> u64 {
    match Errand::of(errand) {
        Some(Errand::Turn) => turn(first, seed, begins != 0),
        Some(Errand::Look) => look(first, seed),
        None => FAILED,
    }
}

fn turn(end: u64, seed: u64, begins: bool) -> u64 {
    let said = library().and_then(|it| it.turn(seed, begins, &mut Channel(end)));
    said.unwrap_or(FAILED)
}

/// What is told is whether, and not what the word is: the host must not have it.
fn look(address: u64, seed: u64) -> u64 {
    let word: *const u64 = ptr::with_exposed_provenance(address as usize);
    // SAFETY: a load that changes nothing. Where there is no page it ends this compartment, which
    // is what the host wants to know.
    let word = unsafe { word.read_volatile() };
    u64::from(word == marker(seed))
}

/// An end of a channel.
struct Channel(u64);

impl Link for Channel {
    fn send(&mut self, message: &[u8; MESSAGE]) -> bool {
        send(self.0, message).is_some_and(|it| it.bytes == MESSAGE)
    }

    fn receive(&mut self, message: &mut [u8; MESSAGE]) -> bool {
        receive(self.0, message).is_some_and(|it| it.bytes == MESSAGE)
    }
}

/// The page at the beginning of the heap, which it gets when it is called for the first time.
fn library() -> Option<&'static mut Library> {
    const { assert!(size_of::<Library>() <= PAGE) };
    if grow(0).1 == 0 && grow(1).1 == 0 {
        return None;
    }
    let start: *mut Library = ptr::with_exposed_provenance_mut(HEAP as usize);
    // SAFETY: the heap has a page, of zeros or of what a call before this one left, and any bytes
    // are a library. Nothing else refers to it: one call is over before the next one begins.
    Some(unsafe { &mut *start })
}

entry!(call);
