// SPDX-License-Identifier: MIT OR Apache-2.0
//! RAM and devices of a machine, from the device tree that QEMU makes for it.

use std::ops::Range;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::{Node, Property};

use super::descriptor::PAGE;
use crate::environment::tools::QEMU;
use crate::machine::Machine;
use crate::process;
use crate::qemu::scratch::Scratch;

/// What can be told to write anywhere, or reaches into CPUs; a `*` stands for any ending.
const WITHHELD: [&str; 11] = [
    "qemu,fw-cfg-mmio",
    "arm,gic-v3-its",
    "arm,coresight-*",
    "arm,embedded-trace-*",
    "arm,cpu-debug",
    "arm,armv7-debug",
    "arm,pl080",
    "arm,pl081",
    "arm,pl330",
    "brcm,bcm2835-dma",
    "brcm,bcm2711-dma",
];

/// RAM, devices that may be mapped, and devices that may not; whole pages.
#[derive(Debug, Default)]
pub struct Machinery {
    /// Banks of RAM.
    pub ram: Vec<Range<u64>>,
    /// May be mapped.
    pub devices: Vec<Range<u64>>,
    /// May not.
    pub withheld: Vec<Range<u64>>,
}

/// Asks QEMU for the device tree of `machine`.
pub fn of(machine: &Machine) -> Result<Machinery> {
    let scratch = Scratch::new()?;
    let path = scratch.join("tree");
    let mut arguments = machine.qemu_arguments();
    // The first two are -M and its value.
    let board = arguments
        .get_mut(1)
        .context("QEMU's arguments have no -M")?;
    board.push_str(&format!(",dumpdtb={}", path.display()));
    process::both(Command::new(QEMU).args(arguments))?;
    let bytes = std::fs::read(&path).context("QEMU wrote no device tree")?;
    let tree = Fdt::new(&bytes).map_err(|it| anyhow::anyhow!("QEMU's device tree: {it}"))?;
    let mut found = Machinery::default();
    for node in tree.root().children() {
        collect(node, Cells::default(), 0, &mut found);
    }
    ensure!(!found.ram.is_empty(), "QEMU's device tree names no RAM");
    ensure!(
        !found.devices.is_empty(),
        "QEMU's device tree names no device"
    );
    Ok(found)
}

/// `#address-cells` and `#size-cells` of a bus.
#[derive(Clone, Copy)]
struct Cells {
    address: usize,
    size: usize,
}

impl Default for Cells {
    fn default() -> Self {
        Self {
            address: 2,
            size: 2,
        }
    }
}

/// Adds a node and what is below it. `offset` is what the bus adds to addresses.
fn collect(node: FdtNode, cells: Cells, offset: u64, found: &mut Machinery) {
    if node.name() == "reserved-memory" {
        return;
    }
    let registers = pairs(&property(&node, "reg"), cells);
    let list = property(&node, "compatible");
    let names: Vec<&[u8]> = list.split(|it| *it == 0).collect();
    let place = if property(&node, "device_type") == b"memory\0" {
        &mut found.ram
    } else if names.iter().any(|it| is_withheld(it)) {
        &mut found.withheld
    } else {
        &mut found.devices
    };
    place.extend(registers.into_iter().map(|it| pages(it, offset)));
    let own = Cells {
        address: number(&property(&node, "#address-cells")).map_or(2, |it| it as usize),
        size: number(&property(&node, "#size-cells")).map_or(1, |it| it as usize),
    };
    let is_pci = property(&node, "device_type") == b"pci\0";
    let Some(ranges) = node.property("ranges").map(|it| it.value().to_vec()) else {
        return;
    };
    // Child address, parent address, size.
    let width = 4 * (own.address + cells.address + own.size);
    for window in ranges.chunks_exact(width.max(4)) {
        let (child, rest) = window.split_at(4 * own.address);
        let (parent, size) = rest.split_at(4 * cells.address);
        let (Some(parent), Some(size)) = (number(parent), number(size)) else {
            continue;
        };
        if is_pci {
            // Registers of what is plugged in appear here.
            found.devices.push(pages(parent..parent + size, offset));
        } else if let Some(child) = number(child) {
            let moved = offset.wrapping_add(parent.wrapping_sub(child));
            for below in node.children() {
                collect(below, own, moved, found);
            }
        }
    }
    if ranges.is_empty() {
        for below in node.children() {
            collect(below, own, offset, found);
        }
    }
}

fn property(node: &FdtNode, name: &str) -> Vec<u8> {
    node.property(name)
        .map(|it| it.value().to_vec())
        .unwrap_or_default()
}

/// The address ranges of a `reg`; none where it holds no addresses, as for CPUs.
fn pairs(reg: &[u8], cells: Cells) -> Vec<Range<u64>> {
    if cells.size == 0 {
        return Vec::new();
    }
    let width = 4 * (cells.address + cells.size);
    let pair = |it: &[u8]| {
        let (start, size) = it.split_at(4 * cells.address);
        let start = number(start)?;
        Some(start..start.checked_add(number(size)?)?)
    };
    reg.chunks_exact(width).filter_map(pair).collect()
}

/// A big-endian number of up to two cells.
fn number(cells: &[u8]) -> Option<u64> {
    let cells = &cells[cells.len().saturating_sub(8)..];
    (!cells.is_empty()).then(|| cells.iter().fold(0, |all, it| all << 8 | u64::from(*it)))
}

fn pages(range: Range<u64>, offset: u64) -> Range<u64> {
    let start = range.start.wrapping_add(offset);
    let end = range.end.wrapping_add(offset);
    start & !(PAGE - 1)..end.next_multiple_of(PAGE)
}

fn is_withheld(name: &[u8]) -> bool {
    WITHHELD.iter().any(|it| match it.strip_suffix('*') {
        Some(start) => name.starts_with(start.as_bytes()),
        None => *it.as_bytes() == *name,
    })
}
