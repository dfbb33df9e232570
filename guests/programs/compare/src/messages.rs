// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages to another compartment, and to and from the host.

use donjon_compartment_protocol::{FAILED, Request};
use donjon_loops::{MESSAGE, Message};
use donjon_runtime::{call_out, shared};

/// Sends a message; returns how many bytes went.
pub fn send(end: u64, number: u64) -> u64 {
    let mut message = Message::EMPTY;
    message.set(number);
    donjon_runtime::send(end, &message.0).map_or(FAILED, |it| it.bytes as u64)
}

/// Receives a message; returns its number.
pub fn receive(end: u64) -> u64 {
    let mut message = Message::EMPTY;
    match donjon_runtime::receive(end, &mut message.0) {
        Some(moved) if moved.bytes == MESSAGE => message.number().unwrap_or(FAILED),
        _ => FAILED,
    }
}

/// Has the host write one; how many bytes it wrote.
pub fn output(number: u64) -> u64 {
    let mut message = Message::EMPTY;
    message.set(number);
    shared::write(&message.0);
    call_out(Request::Output(MESSAGE as u64).word())
}

/// Has the host read one; its number.
pub fn input() -> u64 {
    let mut message = Message::EMPTY;
    if call_out(Request::Input(MESSAGE as u64).word()) != MESSAGE as u64 {
        return FAILED;
    }
    shared::read(&mut message.0);
    message.number().unwrap_or(FAILED)
}
