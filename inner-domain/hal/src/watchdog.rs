// SPDX-License-Identifier: MIT OR Apache-2.0
//! The watchdog of a Raspberry Pi, which resets the board and switches it off.
//!
//! Switching off is a reset as well: the firmware that boots next finds a number of a partition
//! that means that it has to stay off.

/// Offset of the control of a reset.
const CONTROL: u64 = 0x1c;
/// Offset of the status, which survives a reset.
const STATUS: u64 = 0x20;
/// Offset of the time that is left.
const TIME: u64 = 0x24;
/// Upper byte that each write has to have.
const PASSWORD: u32 = 0x5a00_0000;
/// The field of the control that says what happens in the end.
const WHAT: u32 = 0x30;
/// Value of that field for a reset of everything.
const FULL_RESET: u32 = 0x20;
/// The bits of the status that hold the partition: every other one.
const PARTITION: u32 = 0x555;
/// Ticks of 1/65536 s until it happens.
const SOON: u32 = 10;

/// The registers, mapped as device memory.
#[derive(Clone, Copy)]
pub struct Watchdog(u64);

impl Watchdog {
    /// The watchdog whose registers are mapped at `address`.
    ///
    /// Returns none for address 0.
    ///
    /// # Safety
    ///
    /// They are, for as long as it is used, and Linux cannot write them.
    pub const unsafe fn new(address: u64) -> Option<Self> {
        if address == 0 {
            None
        } else {
            Some(Self(address))
        }
    }

    /// Switches the machine off, soon: it returns before.
    pub fn power_off(self) {
        self.write(STATUS, self.read(STATUS) | PARTITION);
        self.expire();
    }

    /// Resets the machine, soon: it returns before.
    pub fn reset(self) {
        self.write(STATUS, self.read(STATUS) & !PARTITION);
        self.expire();
    }

    fn expire(self) {
        self.write(TIME, SOON);
        self.write(CONTROL, self.read(CONTROL) & !WHAT | FULL_RESET);
    }

    fn read(self, register: u64) -> u32 {
        // SAFETY: a register of the watchdog, mapped (new); reading changes nothing.
        unsafe { ((self.0 + register) as *const u32).read_volatile() }
    }

    fn write(self, register: u64, value: u32) {
        let value = PASSWORD | value & 0x00ff_ffff;
        // SAFETY: a register of the watchdog, mapped (new); the write can only reset the machine.
        unsafe { ((self.0 + register) as *mut u32).write_volatile(value) };
    }
}
