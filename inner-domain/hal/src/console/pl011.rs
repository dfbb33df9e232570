// SPDX-License-Identifier: MIT OR Apache-2.0
//! A PL011 that the firmware has already set up: text out, nothing else.
//!
//! Baud rate and line format stay as the firmware or Linux left them, and so do interrupt
//! masks: this writes bytes when the transmit FIFO has room.

use core::fmt;
use core::ptr::NonNull;

use arm_pl011_uart::{PL011Registers, Uart, UniqueMmioPointer};

use super::text::put_text;

/// The UART.
pub struct Pl011 {
    uart: Uart<'static>,
}

impl Pl011 {
    /// The UART whose registers are mapped at `address`.
    ///
    /// Returns none for address 0.
    ///
    /// # Safety
    ///
    /// `address` is the virtual address of a PL011's register frame, mapped as device memory
    /// for as long as it is used, and 4-byte aligned.
    pub unsafe fn new(address: u64) -> Option<Self> {
        let registers = NonNull::new(address as *mut PL011Registers)?;
        // SAFETY: the caller maps the registers. Linux may drive the same device; both write
        // whole bytes into the FIFO, so at worst the output interleaves.
        let registers = unsafe { UniqueMmioPointer::new(registers) };
        Some(Self {
            uart: Uart::new(registers),
        })
    }

    fn put(&mut self, byte: u8) {
        // A UART that is switched off never drains: rather lose text than hang.
        let mut attempts = 1_000_000u32;
        while self.uart.is_tx_fifo_full() && attempts > 0 {
            attempts -= 1;
        }
        self.uart.write_word(byte);
    }
}

impl fmt::Write for Pl011 {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        put_text(text, |byte| self.put(byte));
        Ok(())
    }
}
