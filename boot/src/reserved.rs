// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that the device tree reserves and that Linux does not get.

extern crate alloc;

use core::fmt::Display;

use alloc::string::String;
use alloc::vec::Vec;

use donjon_abi::boot_info::{Bank, MAX_RESERVED};
use donjon_core::devices::reserved::{is_linux_own, withheld};
use donjon_core::range::Range;
use dtoolkit::Node;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::model::{DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::standard::NodeStandard;

use crate::devices::Devices;
use crate::failure::Failure;
use crate::nodes;

/// What Linux does not get.
pub struct Reserved {
    /// Whole pages; empty ranges at the end.
    pub pages: [Bank; MAX_RESERVED],
    /// The nodes of `/reserved-memory` that said so.
    nodes: Vec<String>,
}

/// Looks at the reservations of the tree's header and at the nodes of `/reserved-memory`. Linux
/// reads what is `kept`: its device tree and its initial ramdisk.
pub fn find(
    tree: &Fdt,
    banks: &[Range],
    kept: &[Range],
    devices: &Devices,
) -> Result<Reserved, Failure> {
    let mut ranges: Vec<Range> = tree
        .memory_reservations()
        .filter_map(|entry| Range::with_size(entry.address(), entry.size()))
        .collect();
    let mut nodes = Vec::new();
    if let Some(reserved) = tree.find_node("/reserved-memory") {
        for node in reserved.children().filter(|it| !stays(it, devices)) {
            let registers = nodes::registers(&node)?;
            if !registers.is_empty() {
                nodes.push(String::from(node.name()));
                ranges.extend(registers);
            }
        }
    }
    Ok(Reserved {
        pages: withheld(&ranges, kept, banks)?,
        nodes,
    })
}

fn stays(node: &FdtNode, devices: &Devices) -> bool {
    let is_named = node
        .phandle()
        .is_ok_and(|it| it.is_some_and(|it| devices.memory_regions.contains(&it)));
    is_linux_own(node.compatible().into_iter().flatten(), is_named)
}

impl Reserved {
    /// The pages.
    pub fn ranges(&self) -> impl Iterator<Item = Range> + '_ {
        self.pages
            .iter()
            .filter_map(|it| Range::new(it.start, it.end))
    }

    /// Says which, a line each.
    pub fn report(&self, line: impl Fn(&dyn Display)) {
        for range in self.ranges() {
            let (start, last) = (range.start(), range.end() - 1);
            line(&format_args!(
                "withheld: memory {start:#x}-{last:#x}: the device tree sets it aside"
            ));
        }
    }

    /// Our own nodes for whole pages stand in for these.
    pub fn disable_nodes(&self, reserved: &mut DeviceTreeNode) {
        for name in &self.nodes {
            if let Some(node) = reserved.child_mut(name) {
                node.add_property(DeviceTreeProperty::new_unchecked("status", "disabled"));
            }
        }
    }
}
