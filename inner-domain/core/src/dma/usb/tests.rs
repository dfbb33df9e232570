// SPDX-License-Identifier: MIT OR Apache-2.0

mod model;
mod moves;

use std::vec::Vec;

use donjon_abi::call::{Error, Reason};

use super::start::{UsbError, take_over};
use super::{Controller, Refused, Registers, Transfer};
use crate::devices::Window;
use crate::dma::window::{Access, DeviceWindow};
use crate::range::Range;
use model::{Answer, Emulator};

/// Where memory is on the bus.
const BUS: u32 = 0xc000_0000;
/// RAM, of which devices only read the image, and do not reach what is hidden.
const RAM: (u64, u64) = (0, 0x40_0000);
const IMAGE: (u64, u64) = (0x10_0000, 0x12_0000);
const HIDDEN: (u64, u64) = (0x20_0000, 0x28_0000);

const ENABLE: u32 = 1 << 31;
const DISABLE: u32 = 1 << 30;
const IN: u32 = 1 << 15;

const BEYOND: Result<(), Refused> = Err(Refused::Rule(Reason::BadTransfer));
const IN_USE: Result<(), Refused> = Err(Refused::Rule(Reason::InUse));

fn range((start, end): (u64, u64)) -> Range {
    Range::new(start, end).expect("not empty")
}

/// A controller, what it reaches, and the emulator.
struct Machine {
    controller: Controller,
    window: DeviceWindow,
    emulator: Emulator,
}

impl Machine {
    /// A machine on which firmware left no channel on.
    fn new() -> Self {
        Self::after(false)
    }

    fn after(had_channels_on: bool) -> Self {
        let bus = Window {
            child: u64::from(BUS),
            parent: 0,
            size: 0x3f00_0000,
        };
        let window = DeviceWindow::new(&[range(RAM)], &[range(HIDDEN)], Some(range(IMAGE)));
        Self {
            controller: Controller::new(bus, had_channels_on),
            window: window.expect("few pieces"),
            emulator: Emulator::new(),
        }
    }

    fn write(&mut self, at: u64, value: u32) -> Result<(), Refused> {
        self.controller.write(&mut self.emulator, at, value)
    }

    fn start(
        &mut self,
        index: u64,
        control: u32,
        amount: u32,
        address: u32,
    ) -> Result<(), Refused> {
        let transfer = Transfer {
            control,
            amount,
            address,
            split: 0,
        };
        self.controller
            .start(&mut self.emulator, &self.window, index, transfer)
    }

    /// What was accessed outside of the window.
    fn strays(&self) -> Vec<model::Access> {
        let is_allowed = |it: &&model::Access| {
            let access = if it.is_write {
                Access::ReadWrite
            } else {
                Access::Read
            };
            let start = u64::from(it.at.wrapping_sub(BUS));
            let range = Range::with_size(start, u64::from(it.bytes));
            range.is_some_and(|it| self.window.allows(it, access))
        };
        let strays = self.emulator.accesses.iter().filter(|it| !is_allowed(it));
        strays.copied().collect()
    }
}

/// Packets of 512 bytes by a bulk endpoint.
const BULK: u32 = 512 | 2 << 18;

const fn amount(bytes: u32) -> u32 {
    bytes.div_ceil(512) << 19 | bytes
}

#[test]
fn a_transfer_in_the_window_is_made_at_once() {
    let mut machine = Machine::new();
    let read = machine.start(3, BULK | IN, amount(8192), BUS + 0x1000);
    assert_eq!(read, Ok(()));
    let made = model::Access {
        at: BUS + 0x1000,
        bytes: 8192,
        is_write: true,
    };
    assert_eq!(machine.emulator.accesses, [made]);
    // Text and constants are read, to their last byte.
    let written = machine.start(3, BULK, amount(512), BUS + 0x11_fe00);
    assert_eq!(written, Ok(()));
    assert_eq!(machine.emulator.accesses.len(), 2);
    assert!(machine.strays().is_empty());
}

#[test]
fn a_transfer_that_leaves_the_window_is_refused() {
    for (control, bytes, at) in [
        // Hidden memory, its first and last bytes, and around its start.
        (BULK | IN, 512, 0x20_0000),
        (BULK, 512, 0x20_0000),
        (BULK, 512, 0x27_fe00),
        (BULK | IN, 1024, 0x1f_fe00),
        (BULK, 4, 0x1f_fffe),
        // A packet that is longer than what is asked for has room.
        (BULK | IN, 512, 0x1f_f800),
        // Text and constants.
        (BULK | IN, 512, 0x10_0000),
        (BULK | IN, 512, 0x11_fe00),
        // Behind memory, behind the bus's window, and registers of other devices on the bus.
        (BULK | IN, 512, 0x40_0000),
        (BULK | IN, 512, 0x3eff_ff00),
        (BULK | IN, 512, 0xbe00_b880),
    ] {
        let mut machine = Machine::new();
        let refused = machine.start(1, control, amount(bytes), BUS.wrapping_add(at));
        assert_eq!(refused, BEYOND, "{at:#x}");
        assert!(machine.emulator.accesses.is_empty(), "{at:#x}");
        assert_eq!(machine.emulator.read(0x520) & ENABLE, 0);
    }
    assert_eq!(
        Machine::new().start(1, BULK | IN, amount(512), BUS + 0x1f_f600),
        Ok(())
    );
}

#[test]
fn packets_are_those_that_the_bytes_need() {
    for (control, amount) in [
        (BULK | IN, 1023 << 19),
        (BULK, 2 << 19 | 512),
        (BULK, 512),
        (2 << 18, 1 << 19 | 64),
        (BULK | ENABLE, 1 << 19 | 64),
        (BULK | DISABLE, 1 << 19 | 64),
    ] {
        let refused = Machine::new().start(1, control, amount, BUS + 0x1f_0000);
        assert_eq!(refused, BEYOND, "{control:#x} {amount:#x}");
    }
}

#[test]
fn a_packet_of_no_bytes_needs_no_address() {
    let mut machine = Machine::new();
    assert_eq!(machine.start(0, 64, 1 << 19, 0), Ok(()));
    assert!(machine.emulator.accesses.is_empty());
}

#[test]
fn a_channel_that_transfers_stays_as_it_is() {
    let mut machine = Machine::new();
    machine.emulator.answers = [Answer::NotNow].into();
    let (first, at) = (0x500, BUS + 0x1f_f600);
    assert_eq!(machine.start(0, BULK | IN, amount(512), at), Ok(()));
    // More bytes, another address, another direction, and the channel once more.
    let unknown = Err(Refused::Call(Error::BadAddress));
    assert_eq!(machine.write(first + 0x10, amount(4096)), unknown);
    assert_eq!(machine.write(first + 0x14, BUS + 0x20_0000), unknown);
    assert_eq!(machine.write(first + 0x4, 1 << 31), unknown);
    assert_eq!(machine.write(first, BULK | ENABLE), unknown);
    assert_eq!(machine.write(first, BULK), unknown);
    assert_eq!(machine.start(0, BULK, amount(512), BUS + 0x1000), IN_USE);
    assert_eq!(machine.emulator.read(first + 0x10), amount(512));
    assert_eq!(machine.emulator.read(first + 0x14), at);
    machine.emulator.turn();
    assert_eq!(machine.emulator.accesses.len(), 1);
    assert!(machine.strays().is_empty());
}

/// A disk has so many bytes on their way when the channel is told to end.
const LATE: u32 = 4096;

#[test]
fn without_the_inner_domain_late_bytes_leave_the_window() {
    for direction in [IN, 0] {
        let mut emulator = Emulator::new();
        emulator.answers = [Answer::Later(LATE)].into();
        emulator.write(0x510, amount(LATE));
        emulator.write(0x514, BUS + 0x1000);
        emulator.write(0x500, BULK | direction | ENABLE);
        emulator.write(0x500, BULK | direction | DISABLE);
        emulator.write(0x514, BUS + 0x1f_fe00);
        emulator.write(0x500, BULK | IN);
        emulator.turn();
        let late = emulator.accesses.last().expect("they arrive");
        assert_eq!((late.at, late.bytes), (BUS + 0x1f_fe00, LATE));
        assert!(late.is_write);
    }
}

#[test]
fn late_bytes_have_room_wherever_the_channel_goes() {
    for direction in [IN, 0] {
        let mut machine = Machine::new();
        machine.emulator.answers = [Answer::Later(LATE)].into();
        let started = machine.start(0, BULK | direction, amount(LATE), BUS + 0x1000);
        assert_eq!(started, Ok(()));
        assert_eq!(machine.write(0x500, DISABLE), Ok(()));
        for (control, at) in [
            (BULK | IN, 0x1f_f600),
            // Behind them the transfer begins, so both have to fit.
            (BULK | IN, 0x1f_e800),
            (BULK, 0x10_0000),
        ] {
            let refused = machine.start(0, control, amount(512), BUS + at);
            assert_eq!(refused, BEYOND, "{at:#x}");
        }
        // Another channel has nothing on its way.
        let other = machine.start(1, BULK | IN, amount(512), BUS + 0x1f_f600);
        assert_eq!(other, Ok(()));
        machine.emulator.turn();
        assert_eq!(
            machine.start(0, BULK | IN, amount(512), BUS + 0x1f_e600),
            Ok(())
        );
        // One has ended by itself.
        assert_eq!(
            machine.start(0, BULK | IN, amount(512), BUS + 0x1f_f600),
            Ok(())
        );
        assert!(machine.strays().is_empty());
    }
}

#[test]
fn what_arrives_between_two_registers_moves_no_transfer() {
    // Before each write in turn. Before the last one, which starts the channel, nothing helps: the
    // bytes come to the new address, as they would without the inner domain.
    for writes in 0..6 {
        let mut machine = Machine::new();
        machine.emulator.answers = [Answer::Later(LATE)].into();
        let started = machine.start(0, BULK | IN, amount(LATE), BUS + 0x1000);
        assert_eq!(started, Ok(()));
        assert_eq!(machine.write(0x500, DISABLE), Ok(()));
        let mut turns = std::vec![0; 16];
        turns[15 - writes] = 1;
        machine.emulator.turns = turns;
        let started = machine.start(0, BULK | IN, amount(512), BUS + 0x8000);
        assert_eq!(started, Ok(()), "{writes}");
        if !machine.emulator.has_ended {
            let last = machine.emulator.accesses.last().expect("an access");
            assert_eq!((last.at, last.bytes), (BUS + 0x8000, 512), "{writes}");
        }
    }
}

#[test]
fn what_firmware_left_in_flight_has_room() {
    let mut machine = Machine::after(true);
    let near = BUS + 0x20_0000 - 0x1_0000;
    assert_eq!(machine.start(2, BULK | IN, amount(512), near), BEYOND);
    assert_eq!(
        machine.start(2, BULK | IN, amount(512), BUS + 0x1000),
        Ok(())
    );
    assert_eq!(machine.start(2, BULK | IN, amount(512), near), Ok(()));
}

#[test]
fn what_all_channels_share_changes_while_none_transfers() {
    let mut machine = Machine::new();
    machine.emulator.answers = [Answer::NotNow].into();
    assert_eq!(
        machine.start(7, BULK | IN, amount(512), BUS + 0x1000),
        Ok(())
    );
    for (at, value) in [
        (0x10, 1),
        (0x10, 1 << 5),
        (0x24, 774),
        (0x28, 0),
        (0x100, 0),
        (0x8, 0),
    ] {
        assert_eq!(machine.write(at, value), IN_USE, "{at:#x}");
    }
    // Interrupts are switched on and off at any time.
    assert_eq!(machine.write(0x8, 1 | 1 << 5), Ok(()));
    assert_eq!(machine.write(0x5e0, DISABLE), Ok(()));
    assert_eq!(machine.write(0x10, 1), Ok(()));
    // FIFOs stand one behind the other, whatever was asked for.
    for (at, wanted) in [
        (0x24, 774),
        (0x28, 256 << 16 | 774),
        (0x100, 512 << 16 | 1030),
    ] {
        assert_eq!(machine.write(at, u32::MAX), Ok(()));
        assert_eq!(machine.emulator.read(at), wanted);
    }
}

#[test]
fn a_channel_starts_on_a_host_with_dma() {
    let busy = Err(Refused::Call(Error::Busy));
    for at in [0x8, 0x14, 0x24, 0x28, 0x100] {
        let mut machine = Machine::new();
        machine.emulator.set(at, 0);
        assert_eq!(machine.start(0, BULK, amount(512), BUS + 0x1000), busy);
    }
    let unknown = Err(Refused::Call(Error::InvalidArgument));
    for channel in [8, 16, u64::MAX] {
        let mut machine = Machine::new();
        assert_eq!(
            machine.start(channel, BULK, amount(512), BUS + 0x1000),
            unknown
        );
    }
}

#[test]
fn no_bit_makes_a_device_or_a_list_in_memory_of_it() {
    let mut machine = Machine::new();
    for (at, wanted) in [
        (0xc, 0x3fff_fcff),
        (0x400, 0xff87),
        (0xe00, 0),
        (0x0, 0b1100),
    ] {
        assert_eq!(machine.write(at, u32::MAX), Ok(()));
        assert_eq!(machine.emulator.read(at), wanted, "{at:#x}");
    }
    assert_eq!(machine.write(0xc, 0), Ok(()));
    assert_eq!(machine.emulator.read(0xc), 1 << 29);
    // Frame list, endpoints of a device and their addresses, the place of addresses in FIFOs,
    // windows to FIFOs, and what is no register.
    for at in [
        0x41c, 0x51c, 0x800, 0x900, 0x914, 0xb00, 0xb14, 0x5c, 0x1000, 0x20000, 0x501, 0x502, 0x700,
    ] {
        let refused = machine.write(at, 0);
        assert_eq!(refused, Err(Refused::Call(Error::BadAddress)), "{at:#x}");
    }
}

#[test]
fn a_controller_is_taken_over_from_firmware() {
    let mut emulator = Emulator::new();
    emulator.set(0x8, 0x31);
    emulator.set(0x400, 1 << 23 | 5);
    emulator.set(0x500, ENABLE | IN | 512);
    emulator.set(0x510, 512);
    assert_eq!(take_over(&mut emulator), Ok(true));
    for (at, wanted) in [(0x8, 0), (0x400, 5), (0xc, 1 << 29), (0x500, 0), (0x510, 0)] {
        assert_eq!(emulator.read(at), wanted, "{at:#x}");
    }
    assert_eq!(take_over(&mut emulator), Ok(false));
    emulator.set(0x40, 0);
    assert_eq!(take_over(&mut emulator), Err(UsbError::Absent(0)));
}

#[test]
fn a_controller_that_stays_a_device_is_not_taken_over() {
    let mut emulator = Emulator::new();
    // The model has no roles: the word stays as it is.
    emulator.set(0x14, 0);
    let stays = UsbError::NoAnswer { at: 0x14, found: 0 };
    assert_eq!(take_over(&mut emulator), Err(stays));
}
