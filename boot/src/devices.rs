// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which devices Linux may map, according to the device tree.

extern crate alloc;

use core::fmt::Display;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use donjon_abi::boot_info::{MAX_MEDIATED, MAX_READABLE};
use donjon_abi::layout::PAGE_SIZE;
use donjon_abi::manifest::DmaProfile;
use donjon_core::cpu::redistributors;
use donjon_core::devices::pins::Chip;
use donjon_core::devices::{Decision, DeviceList, Effect, Rule, Window, decide, plugged};
use donjon_core::range::Range;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::model::{DeviceTree, DeviceTreeProperty};
use dtoolkit::standard::NodeStandard;
use dtoolkit::{Node, Property};

use crate::bridge::{self, Behind};
use crate::failure::Failure;
use crate::nodes::{
    ROOT_BUS, find_compatible, first_register, has_type, is_enabled, number, translate, windows,
};
use crate::pins::{self, Controller};
use crate::usb::{self, Usb};

/// The mailbox of a Raspberry Pi's VideoCore, which the inner domain drives if Linux does not.
const MAILBOX: &str = "brcm,bcm2835-mbox";

/// What was found.
pub struct Devices {
    /// The pages that Linux may map. A page that a withheld device has a part of is not there.
    pub allowed: DeviceList,
    /// What the devices that Linux gets name with `memory-region`.
    pub memory_regions: Vec<u32>,
    withheld: Vec<Withheld>,
    /// Registers of harmful devices that are not enabled: there they are all the same. And those
    /// that Linux does not get of a device whose other registers it reads.
    disabled: Vec<Range>,
    open: Vec<Open>,
    /// The controller of pins, if Linux does not get it.
    pub pins: Option<Controller>,
    /// The phandles of how pins are to be for the devices that Linux gets.
    pub pin_states: Vec<u32>,
    /// Pages that Linux may read. In the open profile a device in them may be one that it writes.
    pub readable: Vec<Range>,
    /// Registers there that the inner domain writes for Linux, and the bits that Linux may set.
    pub mediated: Vec<(Range, u32)>,
    /// The registers of the VideoCore's mailbox, if Linux does not get it.
    pub mailbox: Option<u64>,
    /// The path of the bridge whose functions reach memory through an SMMU, if Linux gets one.
    pub behind: Option<(String, Behind)>,
    /// The USB controller that the inner domain drives for Linux.
    pub usb: Option<Usb>,
    interrupt_parent: Option<u32>,
    profile: DmaProfile,
}

/// Devices of one kind that are mapped although they can do harm.
struct Open {
    rule: &'static Rule,
    count: usize,
    /// What is plugged in, where they are sockets.
    plugged: Option<Vec<String>>,
}

/// A device that Linux does not get.
struct Withheld {
    path: String,
    compatible: String,
    why: Cow<'static, str>,
    registers: Vec<Range>,
}

/// The machine itself, where the device tree does not say enough.
pub trait Hardware {
    /// Reads a register of 32 bits of a GICv3's redistributors, or of what says which device is
    /// plugged in.
    fn read(&self, register: u64) -> u32;

    /// Silences the functions behind a bridge and looks at them and at the SMMU.
    ///
    /// # Errors
    ///
    /// Why Linux does not get the bridge.
    fn take_over(&self, behind: &Behind) -> Result<(), String>;

    /// Gives a USB controller power by the VideoCore's `mailbox`, and ends what it does. Returns
    /// whether a channel was on.
    ///
    /// # Errors
    ///
    /// Why Linux does not get the controller.
    fn take_over_usb(&self, usb: &Usb, mailbox: Option<u64>) -> Result<bool, String>;
}

/// What a device is judged by.
struct Judge<'a, 't> {
    tree: &'a Fdt<'t>,
    hardware: &'a dyn Hardware,
}

/// Judges all devices that are enabled. `banks` is RAM, whatever a device's node says.
pub fn find(
    tree: &Fdt,
    banks: &[Range],
    profile: DmaProfile,
    hardware: &dyn Hardware,
) -> Result<Devices, Failure> {
    let judge = Judge { tree, hardware };
    let mut found = Devices {
        allowed: DeviceList::new(),
        memory_regions: Vec::new(),
        withheld: Vec::new(),
        disabled: Vec::new(),
        open: Vec::new(),
        pins: None,
        pin_states: Vec::new(),
        readable: Vec::new(),
        mediated: Vec::new(),
        mailbox: None,
        behind: None,
        usb: None,
        interrupt_parent: number(&tree.root(), "interrupt-parent"),
        profile,
    };
    for node in tree.root().children() {
        collect(node, "", &[ROOT_BUS], true, &judge, &mut found)?;
    }
    let mut allowed = found.allowed;
    let withheld = found.withheld.iter().flat_map(|it| &it.registers);
    for range in withheld.chain(&found.disabled).chain(banks) {
        allowed.remove(*range)?;
    }
    // Linux reads these pages alone, whoever else is there. In the open profile that is a device of
    // Linux's as well.
    if profile == DmaProfile::Strict {
        let written = found.mediated.iter().map(|it| it.0);
        for range in written.chain(found.usb.iter().map(|it| it.registers)) {
            allowed.remove(range)?;
        }
    }
    let (ranges, pieces) = (found.readable.len(), found.mediated.len());
    if pieces > MAX_MEDIATED || ranges > MAX_READABLE {
        return Err(Failure::Mediated(pieces, ranges));
    }
    found.allowed = allowed;
    Ok(found)
}

impl Devices {
    /// Whether devices with DMA are kept to a window of memory.
    pub fn have_window(&self) -> bool {
        self.behind.is_some() || self.usb.is_some()
    }

    /// Says what is withheld, and what is mapped although it can do harm, a line each.
    pub fn report(&self, line: impl Fn(&dyn Display)) {
        for it in &self.withheld {
            let (path, compatible, why) = (&it.path, &it.compatible, &it.why);
            line(&format_args!("withheld: {path} ({compatible}): {why}"));
        }
        for it in &self.open {
            let (compatible, reason, count) = (it.rule.compatible, it.rule.reason, it.count);
            let plugged = match &it.plugged {
                None => String::new(),
                Some(list) if list.is_empty() => String::from(", nothing plugged in"),
                Some(list) => format!(", plugged in: {}", list.join(", ")),
            };
            line(&format_args!(
                "open: {count} of {compatible}{plugged}: {reason}"
            ));
        }
    }

    /// Tells Linux that what is withheld is not there.
    pub fn disable_withheld(&self, tree: &mut DeviceTree) {
        for it in &self.withheld {
            if let Some(node) = tree.find_node_mut(&it.path) {
                node.add_property(DeviceTreeProperty::new_unchecked("status", "disabled"));
            }
        }
    }
}

/// Adds a node on a bus and everything below it. `bus` says where the bus's addresses appear to
/// a CPU. What is not `enabled` is not mapped, and not reported; but it may share a page.
fn collect(
    node: FdtNode,
    parent: &str,
    bus: &[Window],
    enabled: bool,
    judge: &Judge<'_, '_>,
    found: &mut Devices,
) -> Result<(), Failure> {
    if is_memory(&node) {
        return Ok(());
    }
    let enabled = enabled && is_enabled(&node);
    let path = format!("{parent}/{}", node.name());
    let is_pci = has_type(&node, b"pci\0");
    let registers = registers(&node, bus, is_pci)?;
    if !enabled {
        let names: Vec<&str> = node.compatible().into_iter().flatten().collect();
        let does_harm = match decide(names.iter().copied(), found.profile) {
            Decision::Withheld(_) => true,
            Decision::Mapped(rule) => {
                let is_kept = matches!(rule.effect, Effect::BehindSmmu | Effect::Checked);
                is_kept && found.profile == DmaProfile::Strict
            }
        };
        if does_harm {
            found.disabled.extend(registers);
        }
    } else if !registers.is_empty() {
        add(&node, &path, registers, judge, found)?;
    }
    let below = if is_pci { None } else { windows(&node, bus)? };
    // Below a node without `ranges` there is nothing that a CPU can address.
    if let Some(below) = below {
        for child in node.children() {
            collect(child, &path, &below, enabled, judge, found)?;
        }
    }
    Ok(())
}

/// Where a CPU finds the registers of a device.
fn registers(node: &FdtNode, bus: &[Window], is_pci: bool) -> Result<Vec<Range>, Failure> {
    let mut registers = Vec::new();
    // CPUs and the like have a `reg` with numbers that are not addresses: without a size.
    if let Some(list) = node.reg()? {
        for register in list {
            registers.extend(Range::with_size(register.address()?, register.size()?));
        }
    }
    if is_pci && let Some(windows) = node.ranges()? {
        // Where the registers of the devices behind it appear.
        for window in windows {
            registers.extend(Range::with_size(
                window.parent_bus_address()?,
                window.length()?,
            ));
        }
    }
    let translated = registers.iter().filter_map(|it| translate(bus, *it));
    Ok(translated.collect())
}

/// Judges one device.
fn add(
    node: &FdtNode,
    path: &str,
    registers: Vec<Range>,
    judge: &Judge<'_, '_>,
    found: &mut Devices,
) -> Result<(), Failure> {
    let names: Vec<&str> = node.compatible().into_iter().flatten().collect();
    let why = match decide(names.iter().copied(), found.profile) {
        Decision::Mapped(rule)
            if rule.effect == Effect::BehindSmmu && found.profile == DmaProfile::Strict =>
        {
            match add_bridge(node, path, &registers, judge, found) {
                Ok(added) => return added,
                Err(why) => why,
            }
        }
        Decision::Mapped(rule)
            if rule.effect == Effect::Checked && found.profile == DmaProfile::Strict =>
        {
            match add_usb(node, path, &registers, judge, found) {
                Ok(()) => return Ok(()),
                Err(why) => why,
            }
        }
        Decision::Mapped(rule) => {
            if matches!(
                rule.effect,
                Effect::Open | Effect::BehindSmmu | Effect::Checked
            ) {
                note(&mut found.open, rule, &registers, judge.hardware);
            }
            found.pin_states.extend(pins::first_state(node));
            if let Effect::Mediated(start, end) = rule.effect {
                let first = registers.first().map_or(0, |it| it.start());
                let page = first & !(PAGE_SIZE - 1);
                found.readable.extend(Range::with_size(page, PAGE_SIZE));
                let registers = Range::new(first + start, first + end);
                found.mediated.extend(registers.map(|it| (it, u32::MAX)));
                return Ok(());
            }
            let mut registers = registers;
            if rule.effect == Effect::Redistributors {
                let count = number(node, "#redistributor-regions").unwrap_or(1) as usize;
                // The first registers are the distributor's.
                let end = registers.len().min(1 + count);
                for region in registers.splice(1.min(end)..end, []).collect::<Vec<_>>() {
                    add_redistributors(node, region, judge, found)?;
                }
            }
            for range in registers {
                found.allowed.add(range)?;
            }
            let regions = node.property("memory-region");
            let regions = regions.map(|it| it.value().to_vec()).unwrap_or_default();
            let phandles = regions.as_chunks::<4>().0;
            let phandles = phandles.iter().map(|it| u32::from_be_bytes(*it));
            found.memory_regions.extend(phandles);
            return Ok(());
        }
        Decision::Withheld(why) => Cow::Borrowed(why),
    };
    // Linux would only say that it has none.
    let phandle = number(node, "phandle");
    if phandle.is_some() && phandle == found.interrupt_parent {
        let compatible = names.first().copied().unwrap_or_default();
        return Err(Failure::InterruptController(
            String::from(compatible),
            why.into_owned(),
        ));
    }
    if names.first() == Some(&MAILBOX) {
        found.mailbox = registers.first().map(|it| it.start());
    }
    let chip = names.first().and_then(|it| Chip::of(it));
    if let (Some(chip), Some(registers)) = (chip, registers.first()) {
        found.pins = Some(Controller {
            path: String::from(path),
            chip,
            registers: registers.start(),
        });
    }
    found.withheld.push(Withheld {
        path: String::from(path),
        compatible: String::from(names.first().copied().unwrap_or("-")),
        why,
        registers,
    });
    Ok(())
}

/// Adds a bridge behind an SMMU: bus 0 of its configuration space, and the windows in which
/// registers of its functions appear. Otherwise why Linux does not get it.
fn add_bridge(
    node: &FdtNode,
    path: &str,
    registers: &[Range],
    judge: &Judge<'_, '_>,
    found: &mut Devices,
) -> Result<Result<(), Failure>, Cow<'static, str>> {
    let behind = bridge::find(judge.tree, node)?;
    // On a bus that moves addresses, or in a tree with other cells, it is elsewhere.
    let root = judge.tree.root();
    let is_plain = matches!((root.address_cells(), root.size_cells()), (Ok(2), Ok(2)));
    if !is_plain || registers.first() != Some(&behind.bridge.configuration) {
        return Err("its node is not below a root with two cells".into());
    }
    judge.hardware.take_over(&behind)?;
    if found.behind.is_some() {
        return Err("another bridge stands behind the SMMU".into());
    }
    let windows = registers.get(1..).unwrap_or_default();
    let added = Some(behind.bus())
        .into_iter()
        .chain(windows.iter().copied());
    for range in added {
        if let Err(error) = found.allowed.add(range) {
            return Ok(Err(error.into()));
        }
    }
    found.behind = Some((String::from(path), behind));
    Ok(Ok(()))
}

/// Adds a USB controller, whose registers Linux reads. Otherwise why Linux does not get it.
fn add_usb(
    node: &FdtNode,
    path: &str,
    registers: &[Range],
    judge: &Judge<'_, '_>,
    found: &mut Devices,
) -> Result<(), Cow<'static, str>> {
    let usb = usb::find(judge.tree, node, path, registers)?;
    if found.usb.is_some() {
        return Err("the inner domain drives another one".into());
    }
    let mailbox = find_compatible(&judge.tree.root(), "", MAILBOX);
    let mailbox = mailbox.and_then(|it| first_register(judge.tree, &it));
    let had_channels_on = judge.hardware.take_over_usb(&usb, mailbox)?;
    found.readable.push(usb.registers);
    found.disabled.extend(usb.fifos);
    found.usb = Some(Usb {
        had_channels_on,
        ..usb
    });
    Ok(())
}

/// Counts an open device, and names what is plugged into it.
fn note(open: &mut Vec<Open>, rule: &'static Rule, registers: &[Range], hardware: &dyn Hardware) {
    let read = |register| hardware.read(register);
    let plugged = registers.first().and_then(|it| plugged(rule, *it, &read));
    match open.iter_mut().find(|it| it.rule == rule) {
        Some(it) => {
            it.count += 1;
            if let (Some(all), Some(more)) = (&mut it.plugged, plugged) {
                all.extend(more);
            }
        }
        None => open.push(Open {
            rule,
            count: 1,
            plugged,
        }),
    }
}

/// What is plugged into a device with these first registers; none if it is no socket.
fn plugged(rule: &Rule, registers: Range, read: &dyn Fn(u64) -> u32) -> Option<Vec<String>> {
    match rule.compatible {
        "virtio,mmio" => {
            let device = plugged::virtio(registers.start(), read);
            let named = device
                .map(|it| format!("{} ({it}) at {:#x}", plugged::kind(it), registers.start()));
            Some(named.into_iter().collect())
        }
        "pci-host-ecam-generic" => {
            let named = |it: plugged::PciFunction| {
                let ((device, function), (vendor, model)) = (it.place, it.identity);
                format!("{vendor:04x}:{model:04x} at 00:{device:02x}.{function}")
            };
            Some(plugged::pci(registers, read).map(named).collect())
        }
        _ => None,
    }
}

/// Adds a region of redistributors.
fn add_redistributors(
    node: &FdtNode,
    region: Range,
    judge: &Judge<'_, '_>,
    found: &mut Devices,
) -> Result<(), Failure> {
    found.readable.push(region);
    let stride = node.property("redistributor-stride");
    let stride = stride.and_then(|it| it.value_as::<u64>().ok());
    let read = |register| judge.hardware.read(register);
    redistributors::walk(region, stride, read, |it| {
        if it.has_lpis_enabled {
            return Err(Failure::Lpis(it.waker.start()));
        }
        found.mediated.push((it.waker, redistributors::WAKER_BITS));
        Ok(found.allowed.add(it.own)?)
    })
}

fn is_memory(node: &FdtNode) -> bool {
    has_type(node, b"memory\0") || node.name() == "reserved-memory"
}
