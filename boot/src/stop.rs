// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a boot stage that cannot go on.

use core::fmt::Display;
use core::panic::PanicInfo;

use donjon_hal::cpu;

use crate::report;

/// Says why and stops the machine.
pub fn fail(why: &dyn Display) -> ! {
    report::line(&format_args!("PANIC cannot start: {why}"));
    report::system_off();
    cpu::halt()
}

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    fail(info)
}
