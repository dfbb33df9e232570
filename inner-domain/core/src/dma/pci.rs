// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions on a PCI bus behind an SMMU: which may be there, and how each is silenced.
//!
//! Linux gets bus 0 alone, so nothing on another bus can ever be enabled. A function is accepted by
//! a rule: the host bridge itself, and five kinds of virtio devices that ask for the SMMU (bit 33
//! of their features). Everything else is refused, and first what is known to reach memory in
//! another way: a virtio device that names frames instead of addresses (a balloon), a bridge, and
//! what makes functions that are not there yet (SR-IOV).

use thiserror::Error;

use crate::checks::{Checks, Configured};
use crate::range::Range;

/// Registers of a bridge: configuration space, and the memory behind it.
pub trait Space {
    /// Reads 32 bits at a physical address.
    fn read(&self, address: u64) -> u32;
    /// Writes 32 bits at a physical address.
    fn write(&mut self, address: u64, value: u32);
    /// Writes 8 bits at a physical address.
    fn write_byte(&mut self, address: u64, value: u8);
}

/// A host bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bridge {
    /// Configuration space, from bus 0 on: 1 MiB for each bus.
    pub configuration: Range,
    /// Where registers of functions can appear: 32-bit memory, whose addresses on the bus are the
    /// CPU's.
    pub window: Range,
}

/// Bytes of configuration space of a bus.
pub const BUS_SIZE: u64 = 1 << 20;
/// Bytes of configuration space of a function.
const FUNCTION_SIZE: u64 = 1 << 12;
/// Functions of a bus.
const FUNCTIONS: u64 = BUS_SIZE / FUNCTION_SIZE;

/// The place of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Bus, 0 to 255.
    pub bus: u8,
    /// Device on the bus, 0 to 31.
    pub device: u8,
    /// Function of the device, 0 to 7.
    pub function: u8,
}

impl core::fmt::Display for Place {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self {
            bus,
            device,
            function,
        } = self;
        write!(f, "{bus:02x}:{device:02x}.{function}")
    }
}

/// Why a bridge is withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// A function stands on a bus that Linux does not get.
    #[error("a function at {0}: Linux gets bus 0 alone")]
    OtherBus(Place),
    /// A bridge leads to other buses.
    #[error("a bridge at {0}: what is behind it may go around the SMMU")]
    Bridge(Place),
    /// A second host bridge is an expander, whose buses may bypass the SMMU.
    #[error("a second host bridge at {0}: what is behind it may go around the SMMU")]
    SecondHost(Place),
    /// SR-IOV makes functions that are not there yet.
    #[error("a function with SR-IOV at {0}: it makes functions that were not looked at")]
    VirtualFunctions(Place),
    /// A virtio device of an older version, or one that is both, may go around the SMMU.
    #[error("virtio {1:04x} at {0} can be used as a legacy device: it goes around the SMMU")]
    LegacyVirtio(Place, u16),
    /// A balloon names frames.
    #[error("virtio balloon at {0}: it discards pages by number")]
    Balloon(Place),
    /// A virtio device of a kind that is not on the list.
    #[error("virtio device {1} at {0}: its kind may reach memory in another way")]
    VirtioKind(Place, u16),
    /// A virtio device without bit 33.
    #[error("virtio at {0} goes around the SMMU (iommu_platform=off)")]
    GoesAround(Place),
    /// No rule accepts the function.
    #[error("no rule for the function {1:04x}:{2:04x} at {0}")]
    NoRule(Place, u16, u16),
    /// The host bridge does not answer, so nothing is known of what is behind it.
    #[error("no host bridge answers at 00:00.0: its configuration space cannot be read")]
    NoHost,
    /// A virtio device whose registers cannot be read.
    #[error("virtio at {0} has no registers that say whether it goes around the SMMU")]
    NoRegisters(Place),
    /// A function that goes on as a bus master.
    #[error("the function at {0} cannot be kept from memory")]
    Loud(Place),
}

/// Vendor of virtio devices.
const VIRTIO: u16 = 0x1af4;
/// First device number of virtio devices that are not legacy ones: the kind is added to it.
const FIRST_MODERN: u16 = 0x1040;
/// Last device number of virtio devices.
const LAST_VIRTIO: u16 = 0x107f;
/// Kinds of virtio devices that reach memory by addresses of their queues alone (Virtual I/O Device
/// 1.1, 5): network card, disk, console, entropy source, SCSI host.
const KINDS: [u16; 5] = [1, 2, 3, 4, 8];
/// Kind of a balloon.
const BALLOON: u16 = 5;

/// Offsets in the configuration space of a function (PCI Local Bus 3.0, 6.1).
mod offset {
    pub const COMMAND: u64 = 0x4;
    pub const CLASS: u64 = 0x8;
    pub const HEADER: u64 = 0xc;
    pub const FIRST_BAR: u64 = 0x10;
    pub const CAPABILITIES: u64 = 0x34;
    pub const EXTENDED: u64 = 0x100;
}

/// Class and subclass of a host bridge.
const HOST_BRIDGE: u32 = 0x0600;
/// Command register: registers in memory are decoded.
const DECODE: u32 = 1 << 1;
/// Command register: the function is a bus master.
const MASTER: u32 = 1 << 2;
/// Status register, above the command register: there are capabilities.
const HAS_CAPABILITIES: u32 = 1 << 20;
/// Lower half of that word alone: bits of the status register are cleared by ones.
const COMMAND_MASK: u32 = 0xffff;

/// A function that answers.
#[derive(Clone, Copy)]
struct Function {
    place: Place,
    /// Configuration space of the function.
    at: u64,
}

/// Silences every function behind a bridge, and judges those on bus 0.
///
/// # Errors
///
/// The first [`Refusal`]. All functions are silent then as well, but for one that cannot be.
pub fn take_over(space: &mut impl Space, bridge: &Bridge) -> Result<(), Refusal> {
    // What cannot be read looks as if nothing were there.
    let host = bridge.configuration.start();
    let answers = space.read(host) as u16 != u16::MAX;
    if !answers || space.read(host + offset::CLASS) >> 16 != HOST_BRIDGE {
        return Err(Refusal::NoHost);
    }
    let mut first = Ok(());
    for index in 0..bridge.configuration.size() / FUNCTION_SIZE {
        let at = bridge.configuration.start() + index * FUNCTION_SIZE;
        if space.read(at) as u16 == u16::MAX {
            continue;
        }
        let function = Function {
            place: Place {
                bus: (index / FUNCTIONS) as u8,
                device: (index / 8 % 32) as u8,
                function: (index % 8) as u8,
            },
            at,
        };
        let judged = function.judge(space, bridge);
        let silenced = function.silence(space);
        first = first.and(judged).and(silenced);
    }
    first
}

impl Function {
    fn read(self, space: &impl Space, offset: u64) -> u32 {
        space.read(self.at + offset)
    }

    /// Ends its accesses to memory: none begins any more.
    fn silence(self, space: &mut impl Space) -> Result<(), Refusal> {
        let command = self.read(space, offset::COMMAND) & COMMAND_MASK;
        space.write(self.at + offset::COMMAND, command & !MASTER);
        match self.read(space, offset::COMMAND) & MASTER {
            0 => Ok(()),
            _ => Err(Refusal::Loud(self.place)),
        }
    }

    fn judge(self, space: &mut impl Space, bridge: &Bridge) -> Result<(), Refusal> {
        let place = self.place;
        if place.bus != 0 {
            return Err(Refusal::OtherBus(place));
        }
        let is_host_bridge = self.read(space, offset::CLASS) >> 16 == HOST_BRIDGE;
        if is_host_bridge && (place.device, place.function) != (0, 0) {
            return Err(Refusal::SecondHost(place));
        }
        if self.read(space, offset::HEADER) >> 16 & 0x7f != 0 {
            return Err(Refusal::Bridge(place));
        }
        if self.has_virtual_functions(space) {
            return Err(Refusal::VirtualFunctions(place));
        }
        let identity = self.read(space, 0);
        let (vendor, device) = (identity as u16, (identity >> 16) as u16);
        if is_host_bridge {
            return Ok(());
        }
        if vendor != VIRTIO || device > LAST_VIRTIO {
            return Err(Refusal::NoRule(place, vendor, device));
        }
        let Some(kind) = device.checked_sub(FIRST_MODERN) else {
            return Err(Refusal::LegacyVirtio(place, device));
        };
        let goes_through = self.reset_virtio(space, bridge);
        match kind {
            BALLOON if Configured::VIRTIO_TYPE.is_in_code() => Err(Refusal::Balloon(place)),
            _ if !KINDS.contains(&kind) && Configured::VIRTIO_TYPE.is_in_code() => {
                Err(Refusal::VirtioKind(place, kind))
            }
            _ => match goes_through {
                None => Err(Refusal::NoRegisters(place)),
                Some(false) if Configured::PLATFORM_BIT.is_in_code() => {
                    Err(Refusal::GoesAround(place))
                }
                Some(_) => Ok(()),
            },
        }
    }

    /// Whether there is an extended capability SR-IOV (PCI Express 5.0, 9.3.3).
    fn has_virtual_functions(self, space: &impl Space) -> bool {
        const SR_IOV: u32 = 0x0010;
        let mut at = offset::EXTENDED;
        // No list is longer: each capability has 4 bytes at least.
        for _ in 0..(FUNCTION_SIZE - offset::EXTENDED) / 4 {
            let word = self.read(space, at);
            if word == 0 || word == u32::MAX {
                return false;
            }
            if word & 0xffff == SR_IOV {
                return true;
            }
            at = u64::from(word >> 20) & !3;
            if at < offset::EXTENDED {
                return false;
            }
        }
        // It has no end: nothing can be said.
        true
    }

    /// Resets a virtio device, and asks whether it goes through the SMMU; none where it has no
    /// registers for that. Leaves everything else as it was.
    fn reset_virtio(self, space: &mut impl Space, bridge: &Bridge) -> Option<bool> {
        /// Offsets in the common configuration (Virtual I/O Device 1.1, 4.1.4.3).
        const FEATURE_SELECT: u64 = 0x0;
        const FEATURE: u64 = 0x4;
        const STATUS: u64 = 0x14;
        /// How often the status is read before the device counts as one that does not answer.
        const PATIENCE: u32 = 1_000_000;
        /// VIRTIO_F_ACCESS_PLATFORM, 33, in the second word.
        const ACCESS_PLATFORM: u32 = 1 << 1;
        let (bar, within) = self.common(space)?;
        let low = self.at + offset::FIRST_BAR + 4 * bar;
        let (old_low, old_high) = (space.read(low), space.read(low + 4));
        if old_low & 1 != 0 {
            return None;
        }
        let is_long = old_low >> 1 & 3 == 2;
        let old = u64::from(old_low & !0xf)
            | if is_long {
                u64::from(old_high) << 32
            } else {
                0
            };
        let command = self.read(space, offset::COMMAND) & COMMAND_MASK;
        // Firmware may have put it where it cannot be reached from here.
        let is_near = bridge.window.contains(old) && bridge.window.contains(old + within + STATUS);
        if !is_near {
            space.write(low, bridge.window.start() as u32);
            if is_long {
                space.write(low + 4, (bridge.window.start() >> 32) as u32);
            }
        }
        space.write(self.at + offset::COMMAND, command | DECODE);
        let registers = within + if is_near { old } else { bridge.window.start() };
        space.write_byte(registers + STATUS, 0);
        // It is reset when the status says so (4.1.4.3.2).
        let is_reset = (0..PATIENCE).any(|_| space.read(registers + STATUS) & 0xff == 0);
        space.write(registers + FEATURE_SELECT, 1);
        let features = space.read(registers + FEATURE);
        space.write(registers + FEATURE_SELECT, 0);
        space.write(self.at + offset::COMMAND, command & !MASTER);
        if !is_near {
            space.write(low, old_low);
            if is_long {
                space.write(low + 4, old_high);
            }
        }
        // What nothing answers for reads as all ones.
        (is_reset && features != u32::MAX).then_some(features & ACCESS_PLATFORM != 0)
    }

    /// The BAR of the common configuration of a virtio device, and where it is there.
    fn common(self, space: &impl Space) -> Option<(u64, u64)> {
        const VENDOR: u32 = 0x09;
        const COMMON: u32 = 1;
        if self.read(space, offset::COMMAND) & HAS_CAPABILITIES == 0 {
            return None;
        }
        let mut at = u64::from(self.read(space, offset::CAPABILITIES) & 0xfc);
        // No list is longer: each capability has 4 bytes at least.
        for _ in 0..64 {
            if at < 0x40 {
                return None;
            }
            let word = self.read(space, at);
            if word & 0xff == VENDOR && word >> 24 == COMMON {
                let bar = u64::from(self.read(space, at + 4) & 0xff);
                let within = u64::from(self.read(space, at + 8));
                // A BAR of 64 bits takes two.
                return (bar < 5).then_some((bar, within));
            }
            at = u64::from(word >> 8 & 0xfc);
        }
        None
    }
}
