// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nodes of a device tree, and where a CPU sees what stands in them.

extern crate alloc;

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use donjon_core::devices::Window;
use donjon_core::range::Range;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::standard::NodeStandard;
use dtoolkit::{Node, Property};

use crate::failure::Failure;

/// Addresses mean the same to the root's children and to a CPU.
pub const ROOT_BUS: Window = Window {
    child: 0,
    parent: 0,
    size: u64::MAX,
};

/// The registers of a node, as its own bus names them.
pub fn registers(node: &FdtNode) -> Result<Vec<Range>, Failure> {
    let mut ranges = Vec::new();
    if let Some(registers) = node.reg()? {
        for register in registers {
            let (start, size) = (register.address()?, register.size()?);
            ranges.extend(Range::with_size(start, size));
        }
    }
    Ok(ranges)
}

/// Path of the first node that is compatible with `name`.
pub fn find_compatible(node: &FdtNode, path: &str, name: &str) -> Option<String> {
    for child in node.children() {
        let below = format!("{path}/{}", child.name());
        if child.is_compatible(name) {
            return Some(below);
        }
        if let Some(found) = find_compatible(&child, &below, name) {
            return Some(found);
        }
    }
    None
}

/// Where a CPU finds the first register of the device at `path`.
pub fn first_register(tree: &Fdt, path: &str) -> Option<u64> {
    let mut bus = vec![ROOT_BUS];
    let mut names = path.split('/').filter(|it| !it.is_empty()).peekable();
    let mut node = tree.root();
    while let Some(name) = names.next() {
        node = node.child(name)?;
        if names.peek().is_some() {
            bus = windows(&node, &bus).ok()??;
        }
    }
    let register = node.reg().ok()??.next()?;
    let range = Range::with_size(register.address().ok()?, register.size().ok()?)?;
    translate(&bus, range).map(Range::start)
}

/// The windows of the bus that `node` is, as a CPU sees them; none if it is no such bus.
pub fn windows(node: &FdtNode, bus: &[Window]) -> Result<Option<Vec<Window>>, Failure> {
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

/// Where a range of a bus appears to a CPU.
pub fn translate(bus: &[Window], range: Range) -> Option<Range> {
    bus.iter().find_map(|window| window.translate(range))
}

/// A property of one cell.
pub fn number(node: &FdtNode, name: &str) -> Option<u32> {
    node.property(name)?.value_as::<u32>().ok()
}

/// Whether a node is for us: memory of the secure world, for one, is not.
pub fn is_enabled(node: &FdtNode) -> bool {
    node.property("status")
        .is_none_or(|status| matches!(status.value(), b"okay\0" | b"ok\0"))
}

/// Whether a node is of a kind by its `device_type`.
pub fn has_type(node: &FdtNode, kind: &[u8]) -> bool {
    node.property("device_type")
        .is_some_and(|it| it.value() == kind)
}
