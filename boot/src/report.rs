// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines on the console, once there is one.

use core::fmt::{Display, Write};

use donjon_abi::boot_info::Conduit;
use donjon_hal::console::Console;
use spin::Mutex;

struct Report {
    console: Option<Console>,
    conduit: Conduit,
}

static REPORT: Mutex<Report> = Mutex::new(Report {
    console: None,
    conduit: Conduit::None,
});

/// Where lines go from now on, and how to stop the machine after the last.
pub fn open(console: Option<Console>, conduit: Conduit) {
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

// SAFETY: the console is a device that one CPU drives, behind a lock.
unsafe impl Send for Report {}
