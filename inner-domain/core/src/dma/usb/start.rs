// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the boot stage takes the USB controller over from firmware, which may have started from a
//! disk or from the network behind it.

use thiserror::Error;

use super::Registers;
use super::registers::{
    CHANNELS, DESCRIPTORS, DISABLE, ENABLE, FIFOS, FORCE_HOST, HOST, IDLE, RESET, channel, count,
    offset, within,
};

/// Upper half of GSNPSID.
const KIND: u32 = 0x4f54;
/// How often a register is looked at before the controller counts as one that does not answer.
const PATIENCE: u32 = 1_000_000;

/// Why a controller cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UsbError {
    /// No controller of this kind is there, or it has no power.
    #[error("its register GSNPSID is {0:#x}: it has no power, or is another controller")]
    Absent(u32),
    /// The controller does not do what it was told.
    #[error("its register at {at:#x} stays {found:#x}")]
    NoAnswer {
        /// Offset of the register.
        at: u64,
        /// What is there.
        found: u32,
    },
}

/// Ends what the controller does, resets it, and makes it a host. Returns whether a channel was on.
///
/// # Errors
///
/// A [`UsbError`]; the controller has to be withheld then.
pub fn take_over(registers: &mut impl Registers) -> Result<bool, UsbError> {
    let kind = registers.read(offset::GSNPSID);
    if kind >> 16 != KIND {
        return Err(UsbError::Absent(kind));
    }
    let channels = count(registers.read(offset::GHWCFG2)).min(CHANNELS);
    // Channels are a host's, and endpoints a device's; the reset ends both where it can.
    let mut had_channels_on = false;
    if registers.read(offset::GINTSTS) & HOST != 0 {
        for index in 0..channels {
            had_channels_on |= stop(registers, channel(index));
        }
    }
    // No DMA and no interrupts.
    registers.write(offset::GAHBCFG, 0);
    wait(registers, offset::GRSTCTL, IDLE, IDLE)?;
    registers.write(offset::GRSTCTL, RESET);
    wait(registers, offset::GRSTCTL, RESET | IDLE, IDLE)?;
    registers.write(
        offset::GUSBCFG,
        registers.read(offset::GUSBCFG) | FORCE_HOST,
    );
    // That takes the controller some 25 ms.
    wait(registers, offset::GINTSTS, HOST, HOST)?;
    let host = registers.read(offset::HCFG);
    registers.write(offset::HCFG, host & !DESCRIPTORS);
    for index in 0..channels {
        // Nothing, and from memory.
        registers.write(channel(index) + within::AMOUNT, 0);
        registers.write(channel(index) + within::CONTROL, 0);
        expect(registers, channel(index), u32::MAX, 0)?;
    }
    for (at, value) in FIFOS {
        registers.write(at, value);
        expect(registers, at, u32::MAX, value)?;
    }
    expect(registers, offset::GAHBCFG, u32::MAX, 0)?;
    expect(registers, offset::HCFG, DESCRIPTORS, 0)?;
    Ok(had_channels_on)
}

/// Disables a channel and waits for it. Returns whether it was on.
fn stop(registers: &mut impl Registers, at: u64) -> bool {
    let current = registers.read(at);
    if current & ENABLE == 0 {
        return false;
    }
    registers.write(at, current | DISABLE);
    // One that goes on is looked at once more behind the reset.
    let _ = wait(registers, at, ENABLE, 0);
    true
}

fn wait(registers: &impl Registers, at: u64, bits: u32, wanted: u32) -> Result<(), UsbError> {
    let becomes = |_| registers.read(at) & bits == wanted;
    if (0..PATIENCE).any(becomes) {
        return Ok(());
    }
    expect(registers, at, bits, wanted)
}

fn expect(registers: &impl Registers, at: u64, bits: u32, wanted: u32) -> Result<(), UsbError> {
    let found = registers.read(at);
    if found & bits == wanted {
        Ok(())
    } else {
        Err(UsbError::NoAnswer { at, found })
    }
}
