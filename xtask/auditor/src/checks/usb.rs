// SPDX-License-Identifier: MIT OR Apache-2.0
//! I24: what the channels of a USB controller read and write is what devices reach: ordinary memory
//! outside of the reserve, and the kernel's text and constants for reading. Where a channel is told
//! to write goes on after it is off, so its address counts always.

use super::World;
use crate::descriptor::PAGE;
use crate::frames::Class;
use crate::report::Violation;
use crate::snapshot::Usb;

/// HCFG: addresses stand in memory.
const DESCRIPTORS: u32 = 1 << 23;
/// HCCHAR: to memory; transfers.
const IN: u32 = 1 << 15;
const ENABLE: u32 = 1 << 31;

/// Checks the USB controller, if the machine keeps one to a window.
pub fn check(world: &World<'_>) -> Vec<Violation> {
    let Some(usb) = &world.snapshot.usb else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if usb.host & DESCRIPTORS != 0 {
        let text = format!("addresses stand in memory: HCFG {:#x}", usb.host);
        found.push(Violation::plain("I24", "USB", text));
    }
    for (index, [control, amount, address]) in usb.channels.iter().enumerate() {
        let writes = control & IN != 0;
        let is_on = control & ENABLE != 0;
        let bytes = match (is_on, writes) {
            (true, true) => u64::from(amount & 0x7_ffff).max(1),
            (true, false) => u64::from(amount & 0x7_ffff),
            (false, true) => 1,
            (false, false) => 0,
        };
        // What has no bytes needs no address.
        if bytes == 0 {
            continue;
        }
        let Some(first) = u64::from(*address).checked_sub(usb.bus) else {
            let text = format!("channel {index} has the address {address:#x}, which is no memory");
            found.push(Violation::plain("I24", "USB", text));
            continue;
        };
        channel(world, usb, index, first..first + bytes, writes, &mut found);
    }
    found
}

/// Checks the memory of a channel.
fn channel(
    world: &World<'_>,
    usb: &Usb,
    index: usize,
    memory: std::ops::Range<u64>,
    writes: bool,
    found: &mut Vec<Violation>,
) {
    let start = memory.start & !(PAGE - 1);
    let size = memory.end.next_multiple_of(PAGE) - start;
    let verb = if writes { "writes" } else { "reads" };
    let mut wrong = |pa: u64, what: &str| {
        found.push(Violation {
            pa: Some(pa),
            ..Violation::plain(
                "I24",
                &world.owner(pa),
                format!("channel {index} of USB {verb} {what}"),
            )
        });
    };
    for (class, pa) in world.frames.classes(start, size) {
        let is_allowed = match class {
            Class::Ordinary => true,
            Class::ReadOnly | Class::KernelText | Class::Vectors => !writes,
            _ => false,
        };
        if !is_allowed {
            wrong(pa, class.name());
        }
    }
    if memory.start < usb.reserve.end && usb.reserve.start < memory.end {
        wrong(memory.start.max(usb.reserve.start), "the reserve");
    }
}
