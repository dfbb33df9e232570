// SPDX-License-Identifier: MIT OR Apache-2.0
//! A controller that does what QEMU's does with the registers of channels, written from the
//! emulator's behaviour and sharing no constant with the code under test.
//!
//! A channel that is disabled keeps what it has on its way, and is served again if a device had
//! nothing for it. Either happens whenever the emulator's main loop runs: between any two writes of
//! registers.

use std::vec::Vec;

use crate::dma::usb::Registers;

/// What a device answers to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Bytes, so many as are named or were asked for.
    Bytes(u32),
    /// Nothing now: the channel asks again.
    NotNow,
    /// Later.
    Later(u32),
    /// An error.
    Stall,
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// First address, on the bus.
    pub at: u32,
    /// Bytes.
    pub bytes: u32,
    /// Whether memory is written.
    pub is_write: bool,
}

#[derive(Clone, Copy, Default)]
struct Packet {
    is_small: bool,
    needs_service: bool,
    /// Bytes that were asked for, and that will come.
    in_flight: Option<(u32, u32)>,
}

/// The controller and the devices behind it.
pub struct Emulator {
    registers: [u32; 1024],
    packets: [Packet; 8],
    /// What devices answer, one packet after the other; then all that is asked for.
    pub answers: Vec<Answer>,
    /// How often the main loop runs before each write of a register.
    pub turns: Vec<u8>,
    /// What was accessed.
    pub accesses: Vec<Access>,
    /// Whether the emulator ended itself: it had two packets of a channel on their way.
    pub has_ended: bool,
}

const WORDS: usize = 0x500 / 4;

impl Emulator {
    /// A controller as it is after a reset.
    pub fn new() -> Self {
        let mut registers = [0; 1024];
        registers[0x8 / 4] = 1 << 5;
        registers[0x10 / 4] = 1 << 31;
        registers[0x14 / 4] = 1;
        registers[0x40 / 4] = 0x4f54_294a;
        registers[0x24 / 4] = 774;
        registers[0x28 / 4] = 256 << 16 | 774;
        registers[0x100 / 4] = 512 << 16 | 1030;
        registers[0x48 / 4] = 7 << 14;
        Self {
            registers,
            packets: [Packet::default(); 8],
            answers: Vec::new(),
            turns: Vec::new(),
            accesses: Vec::new(),
            has_ended: false,
        }
    }

    /// Sets a register as firmware or hardware would.
    pub fn set(&mut self, at: u64, value: u32) {
        self.registers[at as usize / 4] = value;
    }

    /// Serves all channels once.
    pub fn turn(&mut self) {
        for channel in 0..self.packets.len() {
            if let Some((asked, come)) = self.packets[channel].in_flight.take() {
                self.finish(channel, asked, Answer::Bytes(come));
            } else if self.packets[channel].needs_service {
                self.send(channel);
            }
        }
    }

    fn word(&mut self, channel: usize, index: usize) -> &mut u32 {
        &mut self.registers[WORDS + 8 * channel + index]
    }

    fn is_in(&mut self, channel: usize) -> bool {
        let is_setup = *self.word(channel, 4) >> 29 & 3 == 3;
        let control = *self.word(channel, 0);
        let is_control = control >> 18 & 3 == 0;
        control >> 15 & 1 == 1 && !(is_setup && is_control)
    }

    fn send(&mut self, channel: usize) {
        let packet_size = *self.word(channel, 0) & 0x7ff;
        let mut asked = *self.word(channel, 4) & 0x7_ffff;
        if asked > 65536 || packet_size == 0 {
            return;
        }
        if self.packets[channel].is_small {
            asked = asked.min(packet_size);
        }
        if !self.is_in(channel) {
            self.access(channel, asked, false);
        }
        if self.packets[channel].in_flight.is_some() {
            self.has_ended = true;
            return;
        }
        let answer = if self.answers.is_empty() {
            Answer::Bytes(asked)
        } else {
            self.answers.remove(0)
        };
        if let Answer::Later(bytes) = answer {
            self.packets[channel].in_flight = Some((asked, bytes.min(asked)));
            self.packets[channel].needs_service = false;
        } else {
            self.finish(channel, asked, answer);
        }
    }

    fn finish(&mut self, channel: usize, asked: u32, answer: Answer) {
        let mut is_done = false;
        match answer {
            Answer::Bytes(bytes) => {
                let bytes = bytes.min(asked);
                let is_in = self.is_in(channel);
                if is_in {
                    self.access(channel, bytes, true);
                }
                let packet_size = (*self.word(channel, 0) & 0x7ff).max(1);
                let amount = self.word(channel, 4);
                let packets = (*amount >> 19 & 0x3ff).saturating_sub(bytes.div_ceil(packet_size));
                let left = (*amount & 0x7_ffff).saturating_sub(bytes);
                *amount = *amount & !0x1fff_ffff | packets << 19 | left;
                *self.word(channel, 5) = (*self.word(channel, 5)).wrapping_add(bytes);
                is_done |= is_in && !bytes.is_multiple_of(packet_size);
                is_done |= packets == 0 || left == 0 || bytes == 0;
            }
            Answer::NotNow => {}
            Answer::Later(_) | Answer::Stall => is_done = true,
        }
        self.packets[channel].needs_service = !is_done;
        if is_done {
            *self.word(channel, 0) &= !(1 << 31);
        }
    }

    fn access(&mut self, channel: usize, bytes: u32, is_write: bool) {
        let at = *self.word(channel, 5);
        if bytes != 0 {
            self.accesses.push(Access {
                at,
                bytes,
                is_write,
            });
        }
    }

    fn write_control(&mut self, channel: usize, value: u32) {
        let old = *self.word(channel, 0);
        if value >> 30 & 1 == 1 {
            *self.word(channel, 0) = value & !(0b11 << 30);
        } else if value >> 31 == 1 && old >> 31 == 0 {
            *self.word(channel, 0) = value;
            self.packets[channel].is_small = *self.word(channel, 4) & 0x7_ffff <= 1536;
            self.send(channel);
        } else {
            *self.word(channel, 0) = value | old & 1 << 31;
        }
    }
}

impl Registers for Emulator {
    fn read(&self, offset: u64) -> u32 {
        let value = self.registers[offset as usize / 4];
        // Resets are over when they are looked at.
        if offset == 0x10 { value & !0x37 } else { value }
    }

    fn write(&mut self, offset: u64, value: u32) {
        for _ in 0..self.turns.pop().unwrap_or(0) {
            self.turn();
        }
        if self.has_ended {
            return;
        }
        let index = offset as usize / 4;
        match index.checked_sub(WORDS) {
            Some(within) if within < 64 && within % 8 == 0 => {
                self.write_control(within / 8, value);
            }
            _ if offset == 0x10 => self.registers[index] = value | 1 << 31,
            _ => self.registers[index] = value,
        }
    }
}
