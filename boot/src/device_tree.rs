// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the device tree, and adds the node that Linux finds the inner domain by.

extern crate alloc;

use alloc::format;
use alloc::vec::Vec;

use donjon_abi::boot_info::{Conduit, ConsoleKind, MAX_BANKS};
use donjon_abi::layout::{PAGE_SIZE, PHYSICAL_END};
use donjon_core::cpu::start::{self, CpuNode};
use donjon_core::range::Range;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::standard::NodeStandard;
use dtoolkit::{Node, Property};

use crate::board;
use crate::bridge;
use crate::devices::Devices;
use crate::failure::Failure;
use crate::nodes;
use crate::pins;
use crate::reserved::Reserved;
use crate::usb;

/// Reads the device tree at a physical address.
///
/// # Safety
///
/// The loader put a device tree there, below the end of the identity map.
pub unsafe fn read(address: u64) -> Result<Fdt<'static>, Failure> {
    const HEADER: usize = 40;
    // SAFETY: the loader put a device tree there, within the identity map; a header is 40 bytes,
    // and bytes 4 to 7 are its total size.
    let header = unsafe { core::slice::from_raw_parts(address as *const u8, HEADER) };
    let size = u32::from_be_bytes([header[4], header[5], header[6], header[7]]) as usize;
    // SAFETY: the loader put a device tree of this size there, within the identity map.
    let bytes = unsafe { core::slice::from_raw_parts(address as *const u8, size.max(HEADER)) };
    Fdt::new(bytes).map_err(|error| Failure::DeviceTree(address, error))
}

/// The console that `/chosen/stdout-path` names, and the physical address of its registers.
pub fn console(tree: &Fdt) -> Option<(ConsoleKind, u64)> {
    let chosen = tree.chosen()?;
    let path = chosen.stdout_path().ok()??;
    let path = path.split(':').next()?;
    if path.starts_with('/') {
        return uart(tree, path);
    }
    let aliases = tree.find_node("/aliases")?;
    let alias = aliases.property(path)?;
    uart(tree, alias.value_as::<&str>().ok()?)
}

fn uart(tree: &Fdt, path: &str) -> Option<(ConsoleKind, u64)> {
    let node = tree.find_node(path)?;
    let kind = if node.is_compatible("arm,pl011") {
        ConsoleKind::Pl011
    } else if node.is_compatible("brcm,bcm2835-aux-uart") {
        ConsoleKind::Small
    } else {
        return None;
    };
    nodes::first_register(tree, path).map(|registers| (kind, registers))
}

/// How PSCI is called. The calls that are made have their numbers since version 0.2. The machine
/// `entered` us at this level; `power` says that the inner domain can switch it off.
pub fn conduit(tree: &Fdt<'static>, entered: u64, power: bool) -> Conduit {
    let node = ["/psci", "/firmware/psci"]
        .iter()
        .filter_map(|path| tree.find_node(path))
        .find(|it| it.is_compatible("arm,psci-0.2") || it.is_compatible("arm,psci-1.0"));
    let method = node.and_then(|node| node.property("method"));
    let method = method.and_then(|it| it.value_as::<&str>().ok());
    let conduit = start::conduit(method, entered);
    match tree.cpus() {
        Ok(cpus)
            if cpus
                .children()
                .any(|it| string(&it, "enable-method") == Some("spin-table")) =>
        {
            start::without_psci(conduit, power, entered)
        }
        _ => conduit,
    }
}

/// Banks of RAM.
pub fn memory(tree: &Fdt) -> Result<Vec<Range>, Failure> {
    let mut banks = Vec::new();
    for node in tree.root().children() {
        let is_memory = node
            .property("device_type")
            .is_some_and(|kind| kind.value() == b"memory\0");
        if is_memory && nodes::is_enabled(&node) {
            banks.extend(nodes::registers(&node)?);
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

/// What is already taken: reservations, reserved memory and the initial ramdisk, in whole pages.
pub fn taken(tree: &Fdt) -> Result<Vec<Range>, Failure> {
    let mut taken: Vec<Range> = tree
        .memory_reservations()
        .filter_map(|entry| Range::with_size(entry.address(), entry.size()))
        .collect();
    if let Some(reserved) = tree.find_node("/reserved-memory") {
        for node in reserved.children() {
            taken.extend(nodes::registers(&node)?);
        }
    }
    taken.extend(initial_ramdisk(tree));
    Ok(taken.into_iter().filter_map(whole_pages).collect())
}

fn whole_pages(range: Range) -> Option<Range> {
    let end = range.end().checked_next_multiple_of(PAGE_SIZE)?;
    Range::new(range.start() & !(PAGE_SIZE - 1), end)
}

/// The initial ramdisk.
pub fn initial_ramdisk(tree: &Fdt) -> Option<Range> {
    let chosen = tree.find_node("/chosen")?;
    let word = |name| {
        let value = chosen.property(name)?;
        let bytes = value.value().iter();
        Some(bytes.fold(0u64, |word, byte| word << 8 | u64::from(*byte)))
    };
    Range::new(word("linux,initrd-start")?, word("linux,initrd-end")?)
}

/// Linux's command line.
pub fn command_line(tree: &Fdt<'static>) -> &'static str {
    let chosen = tree.find_node("/chosen");
    chosen.and_then(|it| string(&it, "bootargs")).unwrap_or("")
}

/// A CPU.
#[derive(Clone, Copy)]
pub struct Cpu {
    /// MPIDR affinity of the CPU.
    pub affinity: u64,
    /// Physical address of the word that it waits for, unless PSCI starts it.
    pub release: Option<u64>,
}

/// All CPUs, each of which PSCI starts, or the boot stage.
pub fn cpus(tree: &Fdt<'static>, conduit: Conduit) -> Result<Vec<Cpu>, Failure> {
    let mut nodes = Vec::new();
    let cpus = tree.cpus()?;
    let of_all = string(&cpus, "enable-method");
    // By type as well as by name: a CPU under another name can be started all the same.
    let is_cpu = |node: &FdtNode<'static>| {
        string(node, "device_type") == Some("cpu") || node.name_without_address() == "cpu"
    };
    for cpu in cpus.children().filter(is_cpu) {
        let (method, status) = (string(&cpu, "enable-method"), string(&cpu, "status"));
        let number = |name| {
            cpu.property(name).and_then(|it| match it.value().len() {
                4 => it.value_as::<u32>().ok().map(u64::from),
                _ => it.value_as::<u64>().ok(),
            })
        };
        nodes.push(CpuNode {
            affinity: number("reg").ok_or(Failure::CpuWithoutNumber)?,
            enable_method: method.or(of_all),
            release: number("cpu-release-addr"),
            status,
        });
    }
    start::check(nodes.iter().copied(), conduit)?;
    let existing = nodes.iter().filter(|it| it.exists());
    let cpu = |it: &CpuNode<'_>| Cpu {
        affinity: it.affinity,
        release: it.release.filter(|_| conduit == Conduit::Emulated),
    };
    Ok(existing.map(cpu).collect())
}

fn string(node: &FdtNode<'static>, name: &str) -> Option<&'static str> {
    node.property(name)?.value_as().ok()
}

/// Memory that the tree for Linux says something of.
pub struct Memory<'a> {
    /// What Linux must not even map.
    pub withheld: &'a [Range],
    /// What no device reaches, and Linux gives to the inner domain alone.
    pub reserve: Option<Range>,
    /// Pages that Linux maps and does not allocate.
    pub unused: &'a [Range],
    /// What the device tree sets aside.
    pub reserved: &'a Reserved,
}

/// Makes the tree for Linux: a node says that the inner domain is there. Where no PSCI is, it names
/// the one that the inner domain emulates.
pub fn amend(
    tree: &Fdt,
    memory: &Memory<'_>,
    devices: &Devices,
    conduit: Conduit,
) -> Result<Vec<u8>, Failure> {
    let mut model = DeviceTree::from_fdt(tree);
    devices.disable_withheld(&mut model);
    if let Some((path, behind)) = &devices.behind {
        bridge::narrow(&mut model, path, behind);
    }
    if let Some(found) = &devices.usb {
        usb::tell_linux(&mut model, found);
    }
    board::replace_clocks(tree, &mut model);
    if let Some(controller) = &devices.pins {
        pins::forget(tree, controller, &mut model.root);
    }
    if conduit == Conduit::Emulated {
        board::name_psci(&mut model);
    }
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
        memory.reserved.disable_nodes(reserved);
        for range in memory.withheld {
            let mut node = range_node("donjon", *range, root)?;
            node.add_property(empty("no-map"));
            reserved.add_child(node);
        }
        for range in memory.unused {
            reserved.add_child(range_node("donjon-unused", *range, root)?);
        }
        if let Some(range) = memory.reserve {
            let mut node = range_node("donjon-reserve", range, root)?;
            let compatible = "donjon,reserve";
            node.add_property(DeviceTreeProperty::new_unchecked("compatible", compatible));
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

/// A node for a range of memory, with these numbers of cells.
fn range_node(name: &str, range: Range, cells: (u32, u32)) -> Result<DeviceTreeNode, Failure> {
    let mut node = DeviceTreeNode::new_unchecked(format!("{name}@{:x}", range.start()));
    let mut register = encode(range.start(), cells.0)?;
    register.extend(encode(range.size(), cells.1)?);
    node.add_property(DeviceTreeProperty::new_unchecked("reg", register));
    Ok(node)
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
