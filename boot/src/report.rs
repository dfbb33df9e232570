// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prints lines on the console.

use core::fmt::{self, Display, Write};

use donjon_abi::boot_info::Conduit;
use donjon_hal::console::Console;
use donjon_hal::firmware;
use donjon_hal::watchdog::Watchdog;
use spin::Mutex;

use crate::efi::Firmware;

/// Where lines go.
pub enum Line {
    /// A UART.
    Console(Console),
    /// The console of a UEFI firmware, until its boot services end.
    Firmware(Firmware),
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match self {
            Self::Console(console) => console.write_str(text),
            Self::Firmware(firmware) => firmware.write_str(text),
        }
    }
}

struct Report {
    console: Option<Line>,
    conduit: Conduit,
    watchdog: Option<Watchdog>,
}

static REPORT: Mutex<Report> = Mutex::new(Report {
    console: None,
    conduit: Conduit::None,
    watchdog: None,
});

/// Where lines go from now on, and how to stop the machine after the last.
pub fn open(console: Option<Line>, conduit: Conduit, watchdog: Option<Watchdog>) {
    *REPORT.lock() = Report {
        console,
        conduit,
        watchdog,
    };
}

/// Switches the machine off. Returns where that is not possible, and before it happens.
pub fn system_off() {
    let (conduit, watchdog) = {
        let report = REPORT.lock();
        (report.conduit, report.watchdog)
    };
    match watchdog {
        Some(watchdog) => watchdog.power_off(),
        None => firmware::system_off(conduit),
    }
}

/// Prints a line.
pub fn line(text: &dyn Display) {
    if let Some(console) = &mut REPORT.lock().console {
        let _ = writeln!(console, "donjon: {text}");
    }
}

// SAFETY: the console is a device or a firmware's that one CPU drives, behind a lock.
unsafe impl Send for Report {}
