// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers that Linux reads and may not write itself.

use donjon_abi::call::Error;

use crate::domain;
use crate::outcome::{Arguments, Outcome};

/// Writes a register that is on the list.
pub fn write([address, value, ..]: &Arguments) -> Outcome {
    let domain = domain::lock()?;
    let register = domain.rules.writable_register(*address);
    let register = register.ok_or(Error::BadAddress)?;
    let value = *value as u32 & register.bits;
    // SAFETY: the boot stage mapped these registers as device memory for good, and its rule says
    // that none of these bits reaches memory, coherency or a CPU.
    unsafe { (register.address as *mut u32).write_volatile(value) };
    Ok(0)
}
