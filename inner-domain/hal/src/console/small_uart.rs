// SPDX-License-Identifier: MIT OR Apache-2.0
//! The small UART of a Raspberry Pi, which the firmware has already set up: text out.

use core::fmt;

use super::text::put_text;

/// Offset of the register that takes a character (AUX_MU_IO_REG).
const DATA: u64 = 0x00;
/// Offset of the line status (AUX_MU_LSR_REG).
const STATUS: u64 = 0x14;
/// Bit of the status: a character can be written.
const READY: u32 = 1 << 5;

/// The registers, mapped as device memory.
pub struct SmallUart(u64);

impl SmallUart {
    /// The UART whose registers are mapped at `address`.
    ///
    /// # Safety
    ///
    /// They are, for as long as it is used, and nothing else drives it.
    pub const unsafe fn new(address: u64) -> Self {
        Self(address)
    }

    fn put(&mut self, byte: u8) {
        // A UART that is switched off is never ready: rather lose text than hang.
        for _ in 0..1_000_000 {
            // SAFETY: the register of a UART that is mapped (new), which reading does not change.
            let status = unsafe { ((self.0 + STATUS) as *const u32).read_volatile() };
            if status & READY != 0 {
                break;
            }
        }
        // SAFETY: the register of a UART that is mapped (new); the write sends a character.
        unsafe { ((self.0 + DATA) as *mut u32).write_volatile(u32::from(byte)) };
    }
}

impl fmt::Write for SmallUart {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        put_text(text, |byte| self.put(byte));
        Ok(())
    }
}
