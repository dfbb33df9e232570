// SPDX-License-Identifier: MIT OR Apache-2.0
//! The USB controller of the Raspberry Pi (DWC2), which reads
//! and writes memory at addresses in registers. Linux reads the registers; the inner domain writes
//! them for it, and starts a channel if all of its transfer is in the window of devices.
//!
//! The window never changes, so a check cannot become stale. Two rules remain:
//!
//! * Direction, amount and address of a channel are written when it starts and at no other time, so
//!   no transfer changes its direction or its length.
//! * QEMU does not cancel the packet that a channel has in flight when the channel is disabled. The
//!   bytes arrive later, at the address that the channel has then, in the direction that it has
//!   then; and the address moves behind them. So behind the address of a channel that was disabled
//!   there is room for that many bytes and for its next transfer, until one has ended by itself.

pub mod registers;
pub mod start;
mod transfer;

#[cfg(test)]
mod tests;

use donjon_abi::call::{Error, Reason};

use crate::checks::{Checks, Configured};
use crate::devices::Window;
use crate::dma::window::DeviceWindow;
use registers::{
    ALL_INTERRUPTS, CHANNELS, DISABLE, DMA, ENABLE, FIFOS, HOST, Rule, channel, count, offset,
    rule, within,
};
pub use transfer::{SLACK, Transfer};

/// Most bytes that firmware may have left in flight, where it left a channel on.
const OF_FIRMWARE: u64 = 1 << 16;
/// How often the registers of a channel are written that do not become what they should: what was
/// in flight has arrived meanwhile. Once for that, and once more.
const TRIES: u32 = 3;

/// The registers of the controller, by their offsets.
pub trait Registers {
    /// Reads a register.
    fn read(&self, offset: u64) -> u32;
    /// Writes a register.
    fn write(&mut self, offset: u64, value: u32);
}

/// Why a register is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The call is wrong, or not possible now.
    Call(Error),
    /// A rule forbids it.
    Rule(Reason),
}

/// What a channel may still do.
#[derive(Clone, Copy, Debug)]
struct Channel {
    /// Bytes of the transfer that was started last.
    started: u64,
    /// Whether that transfer was disabled.
    was_disabled: bool,
    /// Bytes of transfers before that one which may still come: a packet in flight.
    loose: u64,
}

impl Channel {
    /// Bytes that may still come, now that the channel is off. One that ended by itself has none.
    const fn in_flight(&self) -> u64 {
        match (self.was_disabled, self.started > self.loose) {
            (false, _) => 0,
            (true, true) => self.started,
            (true, false) => self.loose,
        }
    }
}

/// What is known of a controller.
#[derive(Debug)]
pub struct Controller {
    channels: [Channel; CHANNELS],
    /// Where the controller finds memory.
    bus: Window,
}

impl Controller {
    /// A controller whose channels are all off. `bus` says where memory is on its bus, and
    /// `had_channels_on` whether the boot stage had to disable some.
    pub const fn new(bus: Window, had_channels_on: bool) -> Self {
        let channel = Channel {
            started: OF_FIRMWARE,
            was_disabled: had_channels_on,
            loose: 0,
        };
        Self {
            channels: [channel; CHANNELS],
            bus,
        }
    }

    /// Writes the register at `at` for Linux: `value`, as far as the register's rule says.
    ///
    /// # Errors
    ///
    /// [`Error::BadAddress`] for a register that Linux may not write, [`Reason::InUse`] for one
    /// that has to stay while a channel transfers. The controller is as it was then.
    pub fn write(
        &mut self,
        registers: &mut impl Registers,
        at: u64,
        value: u32,
    ) -> Result<(), Refused> {
        if !Configured::CHECKED.is_made() && at < registers::SIZE {
            registers.write(at, value);
            return Ok(());
        }
        match rule(at).ok_or(Refused::Call(Error::BadAddress))? {
            Rule::Bits(bits, beside) => registers.write(at, value & bits | beside),
            Rule::Quiet(bits) => {
                expect_quiet(registers)?;
                registers.write(at, value & bits);
            }
            Rule::PartlyQuiet(bits, quiet) => {
                if (registers.read(at) ^ value) & quiet != 0 {
                    expect_quiet(registers)?;
                }
                registers.write(at, value & (bits | quiet));
            }
            Rule::Fixed(fixed) => {
                expect_quiet(registers)?;
                registers.write(at, fixed);
            }
            Rule::Control(index) if value & DISABLE != 0 && index < channels(registers) => {
                let current = registers.read(at);
                self.channels[index].was_disabled |= current & ENABLE != 0;
                registers.write(at, current | DISABLE);
            }
            Rule::Control(_) => return Err(Refused::Call(Error::BadAddress)),
        }
        Ok(())
    }

    /// Starts `transfer` of the channel `index`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a channel that does not exist, [`Reason::InUse`] for one that
    /// transfers, [`Reason::BadTransfer`] for what leaves `window` or is no transfer,
    /// [`Error::Busy`] if the controller is not a host with DMA and FIFOs in their places, or does
    /// not take the values.
    pub fn start(
        &mut self,
        registers: &mut impl Registers,
        window: &DeviceWindow,
        index: u64,
        transfer: Transfer,
    ) -> Result<(), Refused> {
        let exists = |it: &usize| *it < channels(registers);
        let index = usize::try_from(index).ok().filter(exists);
        let index = index.ok_or(Refused::Call(Error::InvalidArgument))?;
        if registers.read(channel(index)) & ENABLE != 0 {
            return Err(Refused::Rule(Reason::InUse));
        }
        let is_host = registers.read(offset::GINTSTS) & HOST != 0;
        let has_fifos = FIFOS.iter().all(|it| registers.read(it.0) == it.1);
        if !is_host || !has_fifos || registers.read(offset::GAHBCFG) & DMA == 0 {
            return Err(Refused::Call(Error::Busy));
        }
        let state = &mut self.channels[index];
        let loose = state.in_flight();
        let bytes = transfer.bytes();
        let bytes = bytes.filter(|it| transfer.is_allowed(*it, loose, window, self.bus));
        if bytes.is_none() && Configured::CHECKED.is_made() {
            return Err(Refused::Rule(Reason::BadTransfer));
        }
        *state = Channel {
            started: bytes.unwrap_or(0),
            was_disabled: false,
            loose,
        };
        let written = if loose == 0 {
            write_all(registers, index, transfer)
        } else {
            (0..TRIES).any(|_| write_around(registers, index, transfer))
        };
        if !written {
            // It did not start, and what is in flight is.
            self.channels[index].was_disabled = true;
            return Err(Refused::Call(Error::Busy));
        }
        registers.write(channel(index), transfer.control | ENABLE);
        Ok(())
    }
}

/// Whether the registers of a channel, which is off, have become those of `transfer`.
fn write_all(registers: &mut impl Registers, index: usize, transfer: Transfer) -> bool {
    let first = channel(index);
    registers.write(first + within::ADDRESS, transfer.address);
    registers.write(first + within::AMOUNT, transfer.amount);
    registers.write(first + within::SPLIT, transfer.split);
    // Of the transfer before, or of a packet in flight.
    registers.write(first + within::INTERRUPTS, ALL_INTERRUPTS);
    has_become(registers, first, transfer)
}

/// Writes the registers of a channel that may have a packet in flight, so that it and what QEMU
/// asks a device for meanwhile go nowhere else: nothing to the old address, then nothing to the new
/// one, then what was checked. Whether they have become those of `transfer`.
fn write_around(registers: &mut impl Registers, index: usize, transfer: Transfer) -> bool {
    let first = channel(index);
    registers.write(first + within::AMOUNT, 0);
    registers.write(first + within::ADDRESS, transfer.address);
    registers.write(first + within::CONTROL, transfer.control);
    registers.write(first + within::AMOUNT, transfer.amount);
    registers.write(first + within::SPLIT, transfer.split);
    // Of the transfer before, or of a packet in flight.
    registers.write(first + within::INTERRUPTS, ALL_INTERRUPTS);
    has_become(registers, first, transfer)
}

fn has_become(registers: &impl Registers, first: u64, transfer: Transfer) -> bool {
    registers.read(first + within::ADDRESS) == transfer.address
        && registers.read(first + within::AMOUNT) == transfer.amount
}

/// How many channels there are.
fn channels(registers: &impl Registers) -> usize {
    count(registers.read(offset::GHWCFG2)).min(CHANNELS)
}

/// Fails while a channel transfers.
fn expect_quiet(registers: &impl Registers) -> Result<(), Refused> {
    let runs = |it| registers.read(channel(it)) & ENABLE != 0;
    if (0..channels(registers)).any(runs) {
        return Err(Refused::Rule(Reason::InUse));
    }
    Ok(())
}
