// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is plugged into the sockets of a machine: windows of virtio over MMIO, and PCI.
//!
//! Registers that say it are read-only and have no effect: MagicValue and DeviceID of virtio
//! (Virtual I/O Device 1.1, 4.2.2; a DeviceID of 0 is an empty window), and the first 16 bytes of a
//! function's configuration space (PCI Local Bus 3.0, 6.1; a vendor of all ones is no function).

use crate::range::Range;

/// "virt", with the first character in the lowest byte.
const MAGIC: u32 = 0x7472_6976;
/// Offset of DeviceID.
const DEVICE_ID: u64 = 8;

/// The kind of device in a window of virtio over MMIO; none if it is empty, or no such window.
/// `read` reads a register of 32 bits.
pub fn virtio(window: u64, read: &dyn Fn(u64) -> u32) -> Option<u32> {
    if read(window) != MAGIC {
        return None;
    }
    Some(read(window + DEVICE_ID)).filter(|it| *it != 0)
}

/// What a kind of virtio device is (Virtual I/O Device 1.1, 5).
pub const fn kind(device: u32) -> &'static str {
    match device {
        1 => "network card",
        2 => "disk",
        3 => "console",
        4 => "entropy source",
        5 => "balloon",
        8 => "SCSI host",
        9 => "9P transport",
        16 => "GPU",
        18 => "input device",
        19 => "socket",
        26 => "file system",
        _ => "other device",
    }
}

/// A function on a PCI bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PciFunction {
    /// Number of the device, below 32, and of its function, below 8.
    pub place: (u8, u8),
    /// Vendor and device.
    pub identity: (u16, u16),
}

/// Functions of a device, and bytes of configuration space of each.
const FUNCTIONS: u64 = 8;
const CONFIGURATION: u64 = 0x1000;
/// Bytes of configuration space of one bus.
const BUS: u64 = 32 * FUNCTIONS * CONFIGURATION;
/// Bit of the register at 0xc: the device has several functions.
const IS_MULTIPLE: u32 = 1 << 23;
/// Upper half of the register at 8: class and subclass of a host bridge, which is the socket
/// itself.
const HOST_BRIDGE: u32 = 0x0600;

/// The functions on the first bus of a configuration space, without host bridges. What is behind
/// another bridge has no number before Linux gives it one. `read` reads a register of 32 bits.
pub fn pci(space: Range, read: &dyn Fn(u64) -> u32) -> impl Iterator<Item = PciFunction> {
    let end = space.size().min(BUS);
    let count = end / CONFIGURATION;
    (0..count).filter_map(move |index| {
        let at = space.start() + index * CONFIGURATION;
        let first = space.start() + (index & !(FUNCTIONS - 1)) * CONFIGURATION;
        if at != first && (!exists(first, read) || read(first + 0xc) & IS_MULTIPLE == 0) {
            return None;
        }
        if !exists(at, read) || read(at + 8) >> 16 == HOST_BRIDGE {
            return None;
        }
        let identity = read(at);
        Some(PciFunction {
            place: ((index / FUNCTIONS) as u8, (index % FUNCTIONS) as u8),
            identity: (identity as u16, (identity >> 16) as u16),
        })
    })
}

fn exists(function: u64, read: &dyn Fn(u64) -> u32) -> bool {
    read(function) as u16 != u16::MAX
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    #[test]
    fn an_empty_window_has_no_device() {
        let window = |magic: u32, device: u32| {
            virtio(0xa00_0000, &|register| match register {
                0xa00_0000 => magic,
                0xa00_0008 => device,
                other => panic!("{other:#x} was read"),
            })
        };
        assert_eq!(window(MAGIC, 0), None);
        assert_eq!(window(MAGIC, 2), Some(2));
        assert_eq!(window(u32::MAX, u32::MAX), None);
        assert_eq!(kind(2), "disk");
        assert_eq!(kind(99), "other device");
    }

    /// A bus with a host bridge in place 0, a device in place 1, and in place 3 one with functions
    /// 0 and 2. Places that have no device answer with all ones.
    fn bus(register: u64) -> u32 {
        let offset = register - 0x4000_0000;
        let place = (offset >> 15 & 31, offset >> 12 & 7);
        assert!(
            offset < BUS && offset & 0xfff <= 0xc,
            "{register:#x} was read"
        );
        match (place, offset & 0xfff) {
            ((0, 0), 0) => 0x0008_1b36,
            ((0, 0), 8) => 0x0600_0000,
            ((1, 0), 0) | ((3, 0), 0) => 0x1000_1af4,
            ((3, 2), 0) => 0x1042_1af4,
            ((3, 0), 0xc) => IS_MULTIPLE,
            ((0 | 1 | 3, 0), _) | ((3, 2), _) => 0,
            _ => u32::MAX,
        }
    }

    #[test]
    fn functions_are_found_without_the_bridge() {
        let space = Range::with_size(0x4000_0000, 0x1000_0000).expect("a range");
        let found: Vec<_> = pci(space, &bus).collect();
        let function = |place, device| PciFunction {
            place,
            identity: (0x1af4, device),
        };
        assert_eq!(
            found,
            [
                function((1, 0), 0x1000),
                function((3, 0), 0x1000),
                function((3, 2), 0x1042)
            ]
        );
        let one = Range::with_size(0x4000_0000, 0x1000).expect("a range");
        assert_eq!(pci(one, &bus).count(), 0);
    }
}
