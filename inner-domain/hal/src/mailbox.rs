// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mailbox of a Raspberry Pi's VideoCore (BCM2835 ARM Peripherals; Linux has the same offsets
//! in its driver).

/// Offset of the word from the VideoCore.
const READ: u64 = 0;
/// Offset of the status for words from the VideoCore.
const READ_STATUS: u64 = 0x18;
/// Offset of the word to the VideoCore.
const WRITE: u64 = 0x20;
/// Offset of the status for words to the VideoCore.
const WRITE_STATUS: u64 = 0x38;
/// No word can be written.
const FULL: u32 = 1 << 31;
/// No word can be read.
const EMPTY: u32 = 1 << 30;

/// The registers, mapped as device memory.
#[derive(Clone, Copy)]
pub struct Mailbox(u64);

impl Mailbox {
    /// The mailbox whose registers are mapped at `address`.
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

    /// Sends a word. False if there is no room for it.
    pub fn send(self, word: u32) -> bool {
        if self.read(WRITE_STATUS) & FULL != 0 {
            return false;
        }
        // SAFETY: a register of the mailbox, by the promise in `new`.
        unsafe { ((self.0 + WRITE) as *mut u32).write_volatile(word) };
        true
    }

    /// Takes a word that has come.
    pub fn receive(self) -> Option<u32> {
        (self.read(READ_STATUS) & EMPTY == 0).then(|| self.read(READ))
    }

    fn read(self, offset: u64) -> u32 {
        // SAFETY: a register of the mailbox, by the promise in `new`.
        unsafe { ((self.0 + offset) as *const u32).read_volatile() }
    }
}
