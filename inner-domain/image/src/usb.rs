// SPDX-License-Identifier: MIT OR Apache-2.0
//! The USB controller of a Raspberry Pi, whose registers are written for Linux.

use donjon_abi::boot_info::{BootInfo, Reached};
use donjon_core::devices::Window;
use donjon_core::dma::usb::{Controller, Refused, Registers, Transfer};
use donjon_core::dma::window::{Access, DeviceWindow, Piece};
use donjon_core::range::Range;

use crate::outcome::{Outcome, Refusal};

/// The controller, and what it may reach.
pub struct Usb {
    controller: Controller,
    window: DeviceWindow,
    registers: Range,
    mapped: Mapped,
}

/// Virtual address of the registers.
#[derive(Clone, Copy)]
struct Mapped(u64);

impl Registers for Mapped {
    fn read(&self, offset: u64) -> u32 {
        // SAFETY: a register of the controller, by the promise in `Usb::new`. No reading of those
        // that are asked for has an effect.
        unsafe { ((self.0 + offset) as *const u32).read_volatile() }
    }

    fn write(&mut self, offset: u64, value: u32) {
        // SAFETY: a register of the controller, by the promise in `Usb::new`. What it makes the
        // controller reach was checked.
        unsafe { ((self.0 + offset) as *mut u32).write_volatile(value) };
    }
}

impl Usb {
    /// The controller that the boot stage describes; none if there is none.
    ///
    /// # Safety
    ///
    /// Its registers are mapped as device memory for good, Linux cannot write them, and all of its
    /// channels are off.
    pub unsafe fn new(boot: &BootInfo) -> Option<Self> {
        let usb = &boot.usb;
        let memory = Range::new(usb.memory.start, usb.memory.end)?;
        let bus = Window {
            child: usb.on_bus,
            parent: memory.start(),
            size: memory.size(),
        };
        let pieces = boot.reached.iter().filter_map(piece);
        Some(Self {
            controller: Controller::new(bus, usb.had_channels_on != 0),
            window: DeviceWindow::from_pieces(pieces).ok()?,
            registers: Range::new(usb.registers.start, usb.registers.end)?,
            mapped: Mapped(usb.mapped),
        })
    }

    /// Whether a physical address is one of its registers.
    pub fn has(&self, address: u64) -> bool {
        self.registers.contains(address)
    }

    /// Writes the register at a physical address, one of [`has`](Self::has).
    pub fn write(&mut self, address: u64, value: u32) -> Outcome {
        let at = address - self.registers.start();
        outcome(self.controller.write(&mut self.mapped, at, value))
    }

    /// Starts a channel with these words: control, amount, address, split.
    pub fn start(&mut self, channel: u64, words: [u32; 4]) -> Outcome {
        let [control, amount, address, split] = words;
        let transfer = Transfer {
            control,
            amount,
            address,
            split,
        };
        let (mapped, window) = (&mut self.mapped, &self.window);
        outcome(self.controller.start(mapped, window, channel, transfer))
    }
}

fn outcome(written: Result<(), Refused>) -> Outcome {
    match written {
        Ok(()) => Ok(0),
        Err(Refused::Call(error)) => Err(error.into()),
        Err(Refused::Rule(reason)) => Err(Refusal::rule(reason)),
    }
}

fn piece(reached: &Reached) -> Option<Piece> {
    Some(Piece {
        range: Range::new(reached.pages.start, reached.pages.end)?,
        access: if reached.is_written == 0 {
            Access::Read
        } else {
            Access::ReadWrite
        },
    })
}
