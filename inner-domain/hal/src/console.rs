// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text out, on a UART that the firmware has already set up.

mod pl011;
mod small_uart;
pub mod text;

use core::fmt;

use donjon_abi::boot_info::ConsoleKind;

use pl011::Pl011;
use small_uart::SmallUart;

/// The console.
pub enum Console {
    /// A PL011.
    Pl011(Pl011),
    /// The small UART of a Raspberry Pi.
    Small(SmallUart),
}

impl Console {
    /// The console of this kind whose registers are mapped at `address`.
    ///
    /// Returns none for address 0.
    ///
    /// # Safety
    ///
    /// `address` is the virtual address of the registers of such a UART, mapped as device memory
    /// for as long as the console is used, and 4-byte aligned.
    pub unsafe fn new(kind: ConsoleKind, address: u64) -> Option<Self> {
        // SAFETY: the address is that of the registers of a UART of this kind, mapped as device
        // memory while the console is used, and 4-byte aligned.
        unsafe {
            match kind {
                _ if address == 0 => None,
                ConsoleKind::None => None,
                ConsoleKind::Pl011 => Pl011::new(address).map(Self::Pl011),
                ConsoleKind::Small => Some(Self::Small(SmallUart::new(address))),
            }
        }
    }
}

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match self {
            Self::Pl011(uart) => uart.write_str(text),
            Self::Small(uart) => uart.write_str(text),
        }
    }
}
