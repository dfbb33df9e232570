// SPDX-License-Identifier: MIT OR Apache-2.0
//! RAM, CPUs and devices of a machine, from the device tree that QEMU makes for it.

mod table;
#[cfg(test)]
mod tests;

use std::ops::Range;

use anyhow::{Result, ensure};
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::{Node, Property};

use table::{Part, decide};

use super::descriptor::PAGE;

/// A frame of a redistributor's registers (Arm IHI 0069, 12.10).
const FRAME: u64 = 0x1_0000;

/// RAM, devices that may be mapped, and devices that may not; whole pages.
#[derive(Clone, Debug, Default)]
pub struct Machinery {
    /// Affinities of the CPUs, in the order of the tree.
    pub mpidrs: Vec<u64>,
    /// Banks of RAM.
    pub ram: Vec<Range<u64>>,
    /// May be mapped.
    pub devices: Vec<Range<u64>>,
    /// May be mapped read-only, whatever else is in the page.
    pub read_only: Vec<Range<u64>>,
    /// May not.
    pub withheld: Vec<Range<u64>>,
    /// What stands between PCI functions and memory; none in the profile that is open.
    pub smmu: Option<Between>,
    /// May be mapped if that SMMU is on: configuration space and windows of a bridge behind it.
    pub behind: Vec<Range<u64>>,
    /// Physical address of the registers of a USB controller that Linux only reads; none in the
    /// profile that is open.
    pub usb: Option<u64>,
}

/// An SMMU between PCI functions and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// Physical address of its registers.
    pub smmu: u64,
    /// The page to which functions write to raise interrupts, a GICv2m's.
    pub doorbell: Option<u64>,
}

/// Bytes of configuration space of a bus: Linux has the first one alone.
const BUS: u64 = 1 << 20;
/// The bridge that may stand behind an SMMU.
const BRIDGE: &str = "pci-host-ecam-generic";

/// The USB controller whose registers may be read.
const USB: &str = "brcm,bcm2835-usb";

/// What the device tree `blob` of a whole machine says. `dma` says whether devices with DMA may be
/// mapped.
///
/// # Errors
///
/// If it is no device tree, or names no RAM or no device.
pub fn of(blob: &[u8], dma: bool) -> Result<Machinery> {
    let found = read(blob, dma)?;
    ensure!(!found.ram.is_empty(), "QEMU's device tree names no RAM");
    ensure!(
        !found.devices.is_empty(),
        "QEMU's device tree names no device"
    );
    Ok(found)
}

/// What a device tree says.
fn read(bytes: &[u8], dma: bool) -> Result<Machinery> {
    let tree = Fdt::new(bytes).map_err(|it| anyhow::anyhow!("QEMU's device tree: {it}"))?;
    let mut found = Machinery::default();
    let cells = Cells::of(&tree.root());
    found.smmu = if dma { None } else { between(&tree) };
    for node in tree.root().children().filter(|it| it.name() == "cpus") {
        let cpus = node
            .children()
            .filter(|it| property(it, "device_type") == b"cpu\0");
        found
            .mpidrs
            .extend(cpus.filter_map(|it| number(&property(&it, "reg"))));
    }
    for node in tree.root().children() {
        collect(node, cells, 0, dma, &mut found);
    }
    // A page that may be written because of one device may be written.
    let (devices, read_only) = (&found.devices, &mut found.read_only);
    read_only.retain(|page| {
        !devices
            .iter()
            .any(|it| it.start < page.end && page.start < it.end)
    });
    Ok(found)
}

/// Whether a device is enabled. Otherwise it must not be mapped, whatever it is; but its page may
/// be that of an enabled device as well.
fn is_enabled(node: &FdtNode) -> bool {
    let status = property(node, "status");
    status.is_empty() || matches!(&*status, b"okay\0" | b"ok\0")
}

/// The strings of a `compatible`.
fn names(list: &[u8]) -> Vec<&str> {
    let names = list.split(|it| *it == 0).filter(|it| !it.is_empty());
    names
        .filter_map(|it| std::str::from_utf8(it).ok())
        .collect()
}

/// `#address-cells` and `#size-cells` of a bus.
#[derive(Clone, Copy)]
struct Cells {
    address: usize,
    size: usize,
}

impl Cells {
    /// What a bus says of the addresses of its children (Devicetree Specification, 2.3.5).
    fn of(bus: &FdtNode) -> Self {
        Self {
            address: number(&property(bus, "#address-cells")).map_or(2, |it| it as usize),
            size: number(&property(bus, "#size-cells")).map_or(1, |it| it as usize),
        }
    }
}

/// Adds a node and what is below it. `offset` is what the bus adds to addresses; `dma` says whether
/// devices with DMA may be mapped.
fn collect(node: FdtNode, cells: Cells, offset: u64, dma: bool, found: &mut Machinery) {
    if node.name() == "reserved-memory" {
        return;
    }
    let registers = pairs(&property(&node, "reg"), cells);
    let mut registers: Vec<_> = registers.into_iter().map(|it| pages(it, offset)).collect();
    let list = property(&node, "compatible");
    let mut part = decide(&names(&list), dma);
    if found.smmu.is_some() && names(&list) == [BRIDGE] && node.property("iommu-map").is_some() {
        part = Some(Part::Behind);
        if let Some(configuration) = registers.first_mut() {
            configuration.end = configuration.end.min(configuration.start + BUS);
        }
    }
    let is_checked = !dma && is_enabled(&node) && names(&list).first() == Some(&USB);
    let is_checked = is_checked && property(&node, "dr_mode") == b"host\0";
    if let Some(all) = registers.first().cloned().filter(|_| is_checked) {
        // Behind the first page there are windows to its FIFOs.
        found.withheld.push(all.start + PAGE..all.end);
        registers.truncate(1);
        registers[0].end = all.start + PAGE;
        part = Some(Part::ReadOnly);
        // Other windows of the bus lead elsewhere; the one of registers is the first.
        found.usb.get_or_insert(all.start);
    }
    if property(&node, "device_type") == b"memory\0" {
        found.ram.extend(registers);
    } else if is_enabled(&node) || part.is_none() {
        let regions = number(&property(&node, "#redistributor-regions")).unwrap_or(1);
        for (index, range) in (0..).zip(registers) {
            match part {
                // The first range is the distributor's; behind the regions are the CPU interface's.
                Some(Part::Redistributors) if (1..=regions).contains(&index) => {
                    add_redistributors(range, found);
                }
                Some(Part::All | Part::Redistributors) => found.devices.push(range),
                Some(Part::Behind) => found.behind.push(range),
                Some(Part::ReadOnly) => found.read_only.push(range),
                None => found.withheld.push(range),
            }
        }
    }
    let own = Cells::of(&node);
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
            let window = pages(parent..parent + size, offset);
            match part {
                Some(Part::Behind) => found.behind.push(window),
                Some(_) => found.devices.push(window),
                None => found.withheld.push(window),
            }
        } else if let Some(child) = number(child) {
            let moved = offset.wrapping_add(parent.wrapping_sub(child));
            for below in node.children() {
                collect(below, own, moved, dma, found);
            }
        }
    }
    if ranges.is_empty() {
        for below in node.children() {
            collect(below, own, offset, dma, found);
        }
    }
}

/// The SMMU of a machine, and the frame by which interrupts are raised.
fn between(tree: &Fdt) -> Option<Between> {
    let first = |node: &FdtNode| {
        let registers = pairs(&property(node, "reg"), Cells::of(&tree.root()));
        registers.first().map(|it| it.start)
    };
    let is = |node: &FdtNode, name: &str| {
        is_enabled(node) && names(&property(node, "compatible")).first() == Some(&name)
    };
    let mut nodes = tree.root().children();
    let smmu = nodes.find(|it| is(it, "arm,smmu-v3"))?;
    let below = tree.root().children().flat_map(|it| it.children());
    let frame = below.into_iter().find(|it| is(it, "arm,gic-v2m-frame"));
    Some(Between {
        smmu: first(&smmu)?,
        doorbell: frame.and_then(|it| first(&it)),
    })
}

/// Adds a region of redistributors, not more than there are CPUs: each has two frames, and the
/// second may be written.
fn add_redistributors(region: Range<u64>, found: &mut Machinery) {
    let mut at = region.start;
    for _ in 0..found.mpidrs.len() {
        if region.end - at < 2 * FRAME {
            break;
        }
        found.read_only.push(at..at + FRAME);
        found.devices.push(at + FRAME..at + 2 * FRAME);
        at += 2 * FRAME;
    }
    // What is behind the last one may be looked at.
    if at < region.end {
        found.read_only.push(at..region.end);
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
