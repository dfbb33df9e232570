// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers that Linux reads and may not write itself.

use donjon_abi::call::Error;

use crate::domain;
use crate::outcome::{Arguments, Outcome};

/// Starts a channel of the USB controller.
pub fn start_usb([channel, control, amount, address, split, _]: &Arguments) -> Outcome {
    let mut domain = domain::lock()?;
    let usb = domain.usb.as_mut().ok_or(Error::InvalidArgument)?;
    let words = [control, amount, address, split].map(|it| *it as u32);
    usb.start(*channel, words)
}

/// Writes a register that is on the list, or one of the USB controller's as far as its transfers
/// stay in the window of devices.
pub fn write([address, value, ..]: &Arguments) -> Outcome {
    let mut domain = domain::lock()?;
    let value = *value as u32;
    if let Some(usb) = &mut domain.usb
        && usb.has(*address)
    {
        return usb.write(*address, value);
    }
    let register = domain.pools.tables.writable_register(*address);
    let register = register.ok_or(Error::BadAddress)?;
    let value = value & register.bits;
    // SAFETY: the boot stage mapped these registers as device memory for good, and its rule says
    // that none of these bits reaches memory, coherency or a CPU.
    unsafe { (register.address as *mut u32).write_volatile(value) };
    Ok(0)
}
