// SPDX-License-Identifier: MIT OR Apache-2.0
//! A panic ends the compartment.

use core::panic::PanicInfo;

use donjon_compartment_protocol::PANIC;

use crate::host::exit;

/// The host learns the line and nothing else: a message may have a secret in it.
#[panic_handler]
fn panic(information: &PanicInfo<'_>) -> ! {
    exit(PANIC | information.location().map_or(0, |it| u64::from(it.line())))
}
