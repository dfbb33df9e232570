// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prints lines on the console.

use core::fmt::{self, Display, Write};

use donjon_abi::boot_info::Conduit;
use donjon_hal::console::Console;
use spin::Mutex;

use crate::device_tree::ConsoleAt;
use crate::efi::Firmware;
use crate::identity;
use crate::small_uart::SmallUart;

/// Where lines go.
pub enum Line {
    /// A PL011.
    Pl011(Console),
    /// The small UART of a Raspberry Pi.
    Small(SmallUart),
    /// The console of a UEFI firmware, until its boot services end.
    Firmware(Firmware),
}

impl Line {
    /// The console at `at`, in the view of devices.
    ///
    /// # Safety
    ///
    /// There is a UART of that kind, and the view is there.
    pub unsafe fn new(at: ConsoleAt) -> Option<Self> {
        // SAFETY: the caller's promise.
        unsafe {
            match at {
                ConsoleAt::Pl011(registers) => {
                    Console::new(identity::device(registers)?).map(Self::Pl011)
                }
                ConsoleAt::Small(registers) => {
                    Some(Self::Small(SmallUart::new(identity::device(registers)?)))
                }
            }
        }
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match self {
            Self::Pl011(console) => console.write_str(text),
            Self::Small(uart) => uart.write_str(text),
            Self::Firmware(firmware) => firmware.write_str(text),
        }
    }
}

struct Report {
    console: Option<Line>,
    conduit: Conduit,
}

static REPORT: Mutex<Report> = Mutex::new(Report {
    console: None,
    conduit: Conduit::None,
});

/// Where lines go from now on, and how to stop the machine after the last.
pub fn open(console: Option<Line>, conduit: Conduit) {
    *REPORT.lock() = Report { console, conduit };
}

/// How the firmware is called.
pub fn conduit() -> Conduit {
    REPORT.lock().conduit
}

/// One line.
pub fn line(text: &dyn Display) {
    if let Some(console) = &mut REPORT.lock().console {
        let _ = writeln!(console, "donjon: {text}");
    }
}

// SAFETY: the console is a device or a firmware's that one CPU drives, behind a lock.
unsafe impl Send for Report {}
