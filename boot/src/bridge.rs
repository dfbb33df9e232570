// SPDX-License-Identifier: MIT OR Apache-2.0
//! A PCI host bridge behind an SMMU, according to the device tree.

extern crate alloc;

use alloc::vec::Vec;

use donjon_core::dma::pci::{BUS_SIZE, Bridge};
use donjon_core::range::Range;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::model::{DeviceTree, DeviceTreeProperty};
use dtoolkit::{Node, Property};

use crate::nodes::is_enabled;

/// A bridge whose functions reach memory through an SMMU, as far as the device tree says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behind {
    /// The bridge.
    pub bridge: Bridge,
    /// Registers of the SMMU.
    pub smmu: Range,
    /// The page to which functions write to raise interrupts, if there is one.
    pub doorbell: Option<u64>,
}

impl Behind {
    /// Configuration space of bus 0, the one that Linux gets.
    pub fn bus(&self) -> Range {
        let start = self.bridge.configuration.start();
        Range::with_size(start, BUS_SIZE).unwrap_or(self.bridge.configuration)
    }
}

/// End of the addresses whose registers the boot stage reads.
const REACHED: u64 = 512 << 30;

/// Bits of the first cell of an address on a PCI bus: what kind of space it is in.
const SPACE: u32 = 3 << 24;
/// 32-bit memory.
const MEMORY: u32 = 2 << 24;

/// Looks at a bridge's node, a child of the root.
///
/// # Errors
///
/// Why functions behind it may go around an SMMU, or why the SMMU cannot be found.
pub fn find(tree: &Fdt, node: &FdtNode) -> Result<Behind, &'static str> {
    const ALL: [u32; 2] = [0, 0x1_0000];
    let Some(map) = cells(node, "iommu-map") else {
        return Err("no SMMU stands between it and memory");
    };
    let [first, phandle, base, count] = map[..] else {
        return Err("several SMMUs share it");
    };
    if [first, count] != ALL || base != 0 || node.property("iommu-map-mask").is_some() {
        return Err("its SMMU does not see all functions under their own numbers");
    }
    if node.property("dma-coherent").is_none() {
        return Err("its functions do not look into caches");
    }
    let smmu = by_phandle(tree, phandle).ok_or("its SMMU is not in the device tree")?;
    let is_v3 = smmu
        .compatible()
        .into_iter()
        .flatten()
        .any(|it| it == "arm,smmu-v3");
    if !is_v3 || !is_enabled(&smmu) {
        return Err("what stands between it and memory is no SMMUv3 that is enabled");
    }
    let smmu = first_register(&smmu).ok_or("its SMMU has no registers")?;
    let configuration = first_register(node).filter(|it| it.size() >= BUS_SIZE);
    let configuration = configuration.ok_or("it has no configuration space")?;
    if configuration.end() > REACHED {
        return Err("its configuration space is too high to be read");
    }
    let window =
        memory_window(node).ok_or("it has no window of 32-bit memory at its own address")?;
    Ok(Behind {
        bridge: Bridge {
            configuration,
            window,
        },
        smmu,
        doorbell: doorbell(tree, node),
    })
}

/// Tells Linux that a bridge has bus 0 alone.
pub fn narrow(tree: &mut DeviceTree, path: &str, behind: &Behind) {
    let Some(node) = tree.find_node_mut(path) else {
        return;
    };
    let start = behind.bridge.configuration.start().to_be_bytes();
    let register = [start, BUS_SIZE.to_be_bytes()].concat();
    node.add_property(DeviceTreeProperty::new_unchecked("reg", register));
    node.add_property(DeviceTreeProperty::new_unchecked("bus-range", [0_u8; 8]));
}

/// The page that functions write to: that of a GICv2m, by `msi-map` or `msi-parent`. An ITS is
/// withheld, and interrupts come by wires then.
fn doorbell(tree: &Fdt, node: &FdtNode) -> Option<u64> {
    let by_map = cells(node, "msi-map").and_then(|it| it.get(1).copied());
    let phandle = by_map.or_else(|| cells(node, "msi-parent")?.first().copied())?;
    let frame = by_phandle(tree, phandle)?;
    let is_frame = frame
        .compatible()
        .into_iter()
        .flatten()
        .any(|it| it == "arm,gic-v2m-frame");
    let register = first_register(&frame).filter(|_| is_frame && is_enabled(&frame));
    register.map(Range::start)
}

/// The window of 32-bit memory, if addresses in it are the same on the bus.
fn memory_window(node: &FdtNode) -> Option<Range> {
    let cells = cells(node, "ranges")?;
    let (windows, rest) = cells.as_chunks::<7>();
    let found = windows.iter().find_map(|it| {
        let [
            space,
            high,
            low,
            parent_high,
            parent_low,
            size_high,
            size_low,
        ] = *it;
        let child = long(high, low);
        let is_same = child == long(parent_high, parent_low);
        let range = Range::with_size(child, long(size_high, size_low))?;
        (space & SPACE == MEMORY && is_same && range.end() <= 1 << 32).then_some(range)
    });
    found.filter(|_| rest.is_empty())
}

const fn long(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// The first registers of a node on a bus whose addresses are the CPU's: one below the root, or
/// below a node with empty `ranges`.
fn first_register(node: &FdtNode) -> Option<Range> {
    let register = node.reg().ok()??.next()?;
    Range::with_size(register.address().ok()?, register.size().ok()?)
}

fn cells(node: &FdtNode, name: &str) -> Option<Vec<u32>> {
    let property = node.property(name)?;
    let (cells, rest) = property.value().as_chunks::<4>();
    let cells = cells.iter().map(|it| u32::from_be_bytes(*it)).collect();
    rest.is_empty().then_some(cells)
}

/// A node below the root, or below one of its children with empty `ranges`.
fn by_phandle<'a>(tree: &Fdt<'a>, phandle: u32) -> Option<FdtNode<'a>> {
    let is_it = |node: &FdtNode| cells(node, "phandle").is_some_and(|it| it == [phandle]);
    for node in tree.root().children() {
        if is_it(&node) {
            return Some(node);
        }
        let is_open = node
            .property("ranges")
            .is_some_and(|it| it.value().is_empty());
        if is_open && let Some(child) = node.children().find(is_it) {
            return Some(child);
        }
    }
    None
}
