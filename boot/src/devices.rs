// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which devices Linux may map, according to the device tree.

extern crate alloc;

use alloc::vec;
use alloc::vec::Vec;

use donjon_core::devices::{DeviceList, Window, is_withheld};
use donjon_core::placement::Range;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::model::{DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::standard::NodeStandard;
use dtoolkit::{Node, Property};

use crate::failure::Failure;

/// The registers of all devices that are enabled and not withheld. A page that a withheld device
/// has a part of is withheld.
pub fn allowed(tree: &Fdt) -> Result<DeviceList, Failure> {
    let mut found = Found::default();
    let everything = Window {
        child: 0,
        parent: 0,
        size: u64::MAX,
    };
    for node in tree.root().children() {
        collect(node, &[everything], &mut found)?;
    }
    for range in found.withheld {
        found.allowed.remove(range)?;
    }
    Ok(found.allowed)
}

/// Tells Linux that what is withheld is not there.
pub fn disable_withheld(node: &mut DeviceTreeNode) {
    for child in node.children_mut() {
        if withheld(child) {
            child.add_property(DeviceTreeProperty::new_unchecked("status", "disabled"));
        }
        disable_withheld(child);
    }
}

#[derive(Default)]
struct Found {
    allowed: DeviceList,
    withheld: Vec<Range>,
}

/// Adds a node on a bus and everything below it. `bus` says where the bus's addresses appear to
/// a CPU.
fn collect(node: FdtNode, bus: &[Window], found: &mut Found) -> Result<(), Failure> {
    if !is_enabled(&node) || is_memory(&node) {
        return Ok(());
    }
    let withheld = withheld(&node);
    let mut registers = Vec::new();
    // CPUs and the like have a `reg` with numbers that are not addresses: without a size.
    if let Some(list) = node.reg()? {
        for register in list {
            registers.extend(Range::with_size(register.address()?, register.size()?));
        }
    }
    let is_pci = has_type(&node, b"pci\0");
    if is_pci && let Some(windows) = node.ranges()? {
        // Where the registers of the devices behind it appear.
        for window in windows {
            registers.extend(Range::with_size(
                window.parent_bus_address()?,
                window.length()?,
            ));
        }
    }
    for range in registers.iter().filter_map(|it| translate(bus, *it)) {
        if withheld {
            found.withheld.push(range);
        } else {
            found.allowed.add(range)?;
        }
    }
    let below = if is_pci { None } else { windows(&node, bus)? };
    // Below a node without `ranges` there is nothing that a CPU can address.
    if let Some(below) = below {
        for child in node.children() {
            collect(child, &below, found)?;
        }
    }
    Ok(())
}

/// The windows of the bus that `node` is, as a CPU sees them; none if it is no such bus.
fn windows(node: &FdtNode, bus: &[Window]) -> Result<Option<Vec<Window>>, Failure> {
    let Some(property) = node.property("ranges") else {
        return Ok(None);
    };
    if property.value().is_empty() {
        return Ok(Some(bus.to_vec()));
    }
    let mut windows = vec![];
    for window in node.ranges()?.into_iter().flatten() {
        let size = window.length()?;
        let parent = Range::with_size(window.parent_bus_address()?, size);
        if let Some(parent) = parent.and_then(|it| translate(bus, it)) {
            windows.push(Window {
                child: window.child_bus_address()?,
                parent: parent.start(),
                size,
            });
        }
    }
    Ok(Some(windows))
}

fn translate(bus: &[Window], range: Range) -> Option<Range> {
    bus.iter().find_map(|window| window.translate(range))
}

fn withheld(node: &impl Node) -> bool {
    node.compatible()
        .is_some_and(|mut list| list.any(is_withheld))
}

fn is_enabled(node: &FdtNode) -> bool {
    node.property("status")
        .is_none_or(|status| matches!(status.value(), b"okay\0" | b"ok\0"))
}

fn is_memory(node: &FdtNode) -> bool {
    has_type(node, b"memory\0") || node.name() == "reserved-memory"
}

fn has_type(node: &FdtNode, kind: &[u8]) -> bool {
    node.property("device_type")
        .is_some_and(|it| it.value() == kind)
}
