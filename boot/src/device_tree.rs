// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the device tree says, and what we add to it for Linux.

extern crate alloc;

use alloc::format;
use alloc::vec::Vec;

use donjon_abi::boot_info::{Conduit, MAX_BANKS};
use donjon_abi::layout::PHYSICAL_END;
use donjon_core::placement::Range;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::standard::NodeStandard;
use dtoolkit::{Node, Property};

use crate::devices;
use crate::failure::Failure;

/// Reads the device tree at a physical address.
///
/// # Safety
///
/// The loader put a device tree there, below the end of the identity map.
pub unsafe fn read(address: u64) -> Result<Fdt<'static>, Failure> {
    const HEADER: usize = 40;
    // SAFETY: the caller's promise; a header is 40 bytes, and bytes 4 to 7 are its total size.
    let header = unsafe { core::slice::from_raw_parts(address as *const u8, HEADER) };
    let size = u32::from_be_bytes([header[4], header[5], header[6], header[7]]) as usize;
    // SAFETY: as above, now with the size that the loader wrote.
    let bytes = unsafe { core::slice::from_raw_parts(address as *const u8, size.max(HEADER)) };
    Fdt::new(bytes).map_err(|error| Failure::DeviceTree(address, error))
}

/// Physical address of the PL011 that `/chosen/stdout-path` names.
pub fn console(tree: &Fdt) -> Option<u64> {
    let chosen = tree.chosen()?;
    let path = chosen.stdout_path().ok()??;
    let path = path.split(':').next()?;
    let path = if path.starts_with('/') {
        path
    } else {
        let aliases = tree.find_node("/aliases")?;
        let alias = aliases.property(path)?;
        return uart(tree, alias.value_as::<&str>().ok()?);
    };
    uart(tree, path)
}

fn uart(tree: &Fdt, path: &str) -> Option<u64> {
    let node = tree.find_node(path)?;
    if !node.is_compatible("arm,pl011") {
        return None;
    }
    node.reg().ok()??.next()?.address().ok()
}

/// How PSCI is called.
pub fn conduit(tree: &Fdt) -> Conduit {
    let method = tree
        .find_node("/psci")
        .and_then(|node| node.property("method"))
        .and_then(|method| method.value_as::<&str>().ok());
    match method {
        Some("hvc") => Conduit::Hvc,
        Some("smc") => Conduit::Smc,
        _ => Conduit::None,
    }
}

/// Banks of RAM.
pub fn memory(tree: &Fdt) -> Result<Vec<Range>, Failure> {
    let mut banks = Vec::new();
    for node in tree.root().children() {
        let is_memory = node
            .property("device_type")
            .is_some_and(|kind| kind.value() == b"memory\0");
        if is_memory {
            banks.extend(ranges(&node)?);
        }
    }
    if banks.len() > MAX_BANKS {
        return Err(Failure::Banks(banks.len()));
    }
    match banks.iter().map(|bank| bank.end()).max() {
        Some(end) if end > PHYSICAL_END => Err(Failure::MemoryTooHigh(end)),
        _ => Ok(banks),
    }
}

/// What is already taken: reservations, reserved memory and the initial ramdisk.
pub fn taken(tree: &Fdt) -> Result<Vec<Range>, Failure> {
    let mut taken: Vec<Range> = tree
        .memory_reservations()
        .filter_map(|entry| Range::with_size(entry.address(), entry.size()))
        .collect();
    if let Some(reserved) = tree.find_node("/reserved-memory") {
        for node in reserved.children() {
            taken.extend(ranges(&node)?);
        }
    }
    if let Some(chosen) = tree.find_node("/chosen") {
        let word = |name| {
            let value = chosen.property(name)?;
            let bytes = value.value();
            Some(
                bytes
                    .iter()
                    .fold(0u64, |word, byte| word << 8 | u64::from(*byte)),
            )
        };
        if let (Some(start), Some(end)) = (word("linux,initrd-start"), word("linux,initrd-end")) {
            taken.extend(Range::new(start, end));
        }
    }
    Ok(taken)
}

/// MPIDR affinities of all CPUs.
pub fn cpus(tree: &Fdt) -> Result<Vec<u64>, Failure> {
    let mut mpidrs = Vec::new();
    for cpu in tree.cpus()?.cpus() {
        if let Some(id) = cpu.ids()?.next() {
            let id = id
                .as_ref()
                .iter()
                .fold(0u64, |id, cell| id << 32 | u64::from(cell.get()));
            mpidrs.push(id);
        }
    }
    Ok(mpidrs)
}

fn ranges(node: &FdtNode) -> Result<Vec<Range>, Failure> {
    let mut ranges = Vec::new();
    if let Some(registers) = node.reg()? {
        for register in registers {
            let (start, size) = (register.address()?, register.size()?);
            ranges.extend(Range::with_size(start, size));
        }
    }
    Ok(ranges)
}

/// The tree for Linux: `withheld` is memory that it must not even map, and a node says that the
/// inner domain is there.
pub fn amend(tree: &Fdt, withheld: &[Range]) -> Result<Vec<u8>, Failure> {
    let mut model = DeviceTree::from_fdt(tree);
    devices::disable_withheld(&mut model.root);
    // Linux ignores all of /reserved-memory unless its cells are the root's.
    let root = cells(&tree.root())?;
    match tree.find_node("/reserved-memory") {
        Some(node) if cells(&node)? != root => return Err(Failure::ReservedMemory),
        Some(_) => (),
        None => {
            let mut node = DeviceTreeNode::new_unchecked("reserved-memory");
            node.add_property(DeviceTreeProperty::new_unchecked("#address-cells", root.0));
            node.add_property(DeviceTreeProperty::new_unchecked("#size-cells", root.1));
            node.add_property(empty("ranges"));
            model.root.add_child(node);
        }
    }
    if let Some(reserved) = model.root.child_mut("reserved-memory") {
        for range in withheld {
            let mut node = DeviceTreeNode::new_unchecked(format!("donjon@{:x}", range.start()));
            let mut register = encode(range.start(), root.0)?;
            register.extend(encode(range.size(), root.1)?);
            node.add_property(DeviceTreeProperty::new_unchecked("reg", register));
            node.add_property(empty("no-map"));
            reserved.add_child(node);
        }
    }
    let mut node = DeviceTreeNode::new_unchecked("donjon");
    node.add_property(DeviceTreeProperty::new_unchecked(
        "compatible",
        "donjon,inner-domain",
    ));
    model.root.add_child(node);
    Ok(model.to_dtb())
}

/// `#address-cells` and `#size-cells`.
fn cells(node: &FdtNode) -> Result<(u32, u32), Failure> {
    Ok((node.address_cells()?, node.size_cells()?))
}

/// A number in one or two cells.
fn encode(value: u64, cells: u32) -> Result<Vec<u8>, Failure> {
    match (cells, u32::try_from(value)) {
        (1, Ok(value)) => Ok(value.to_be_bytes().to_vec()),
        (2, _) => Ok(value.to_be_bytes().to_vec()),
        _ => Err(Failure::ReservedMemory),
    }
}

fn empty(name: &str) -> DeviceTreeProperty {
    DeviceTreeProperty::new_unchecked(name, [0u8; 0])
}
