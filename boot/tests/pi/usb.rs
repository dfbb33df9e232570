// SPDX-License-Identifier: MIT OR Apache-2.0
//! The USB controller: when Linux gets it, and how.

use std::cell::RefCell;

use donjon_abi::boot_info::Conduit;
use donjon_abi::manifest::DmaProfile;
use donjon_boot::device_tree::Memory;
use donjon_boot::{device_tree, devices, nodes, reserved};
use donjon_core::devices::Window;
use donjon_core::range::Range;
use dtoolkit::Node;
use dtoolkit::fdt::Fdt;

use crate::{found, tree};

/// Where a CPU finds the controller's registers.
pub const REGISTERS: u64 = 0x3f98_0000;
/// Where the bus of a Raspberry Pi 3 has memory.
const MEMORY: [u32; 3] = [0xc000_0000, 0, 0x3f00_0000];
const NODE: &str = "/soc/usb@7e980000";

fn is_mapped(devices: &devices::Devices) -> bool {
    let mut allowed = devices.allowed.iter();
    allowed.any(|it| it.start <= REGISTERS && REGISTERS < it.end)
}

#[test]
fn a_host_is_read_by_linux_and_written_by_the_inner_domain() {
    let tree = Fdt::new(tree::usb("host", &MEMORY).leak()).expect("a device tree");
    let devices = found(&tree, DmaProfile::Strict);
    let usb = devices.usb.as_ref().expect("it is driven for Linux");
    let page = Range::with_size(REGISTERS, 0x1000).expect("not empty");
    assert_eq!(usb.registers, page);
    assert_eq!(usb.fifos.map(Range::end), Some(REGISTERS + 0x1_0000));
    assert!(usb.had_channels_on);
    let bus = Window {
        child: 0xc000_0000,
        parent: 0,
        size: 0x3f00_0000,
    };
    assert_eq!(usb.bus, bus);
    assert!(devices.have_window() && devices.readable.contains(&page));
    assert!(!is_mapped(&devices));

    let reserved = reserved::find(&tree, &[], &[], &devices).expect("reserved memory");
    let unused = [Range::with_size(0x1f_f000, 0x1000).expect("not empty")];
    let memory = Memory {
        withheld: &[],
        reserve: None,
        unused: &unused,
        reserved: &reserved,
    };
    let amended = device_tree::amend(&tree, &memory, &devices, Conduit::Smc);
    let amended = amended.expect("a tree for Linux").leak();
    let amended = Fdt::new(amended).expect("a device tree");
    let node = amended.find_node(NODE).expect("a node");
    assert!(nodes::is_enabled(&node));
    assert!(node.property("donjon,checked").is_some());
    assert!(node.property("power-domains").is_none());
    let unused = amended.find_node("/reserved-memory/donjon-unused@1ff000");
    let unused = unused.expect("a node");
    assert!(unused.property("no-map").is_none());
}

#[test]
fn a_controller_that_is_not_understood_is_withheld() {
    let two = [
        0xc000_0000,
        0,
        0x1000_0000,
        0xd000_0000,
        0x1000_0000,
        0x1000,
    ];
    for (role, memory, why) in [
        ("otg", &MEMORY[..], "it is no host alone"),
        ("peripheral", &MEMORY, "it is no host alone"),
        ("host", &[], "where memory is on its bus"),
        ("host", &two, "where memory is on its bus"),
        (
            "host",
            &[0xc000_0000, 0, 0x4000_0001],
            "where memory is on its bus",
        ),
    ] {
        let tree = Fdt::new(tree::usb(role, memory).leak()).expect("a device tree");
        let devices = found(&tree, DmaProfile::Strict);
        assert!(devices.usb.is_none() && !devices.have_window());
        assert!(!is_mapped(&devices));
        let lines = RefCell::new(Vec::new());
        devices.report(|line| lines.borrow_mut().push(line.to_string()));
        let said = lines.into_inner().join(" ");
        assert!(said.contains(why), "{role} {memory:x?}: {said}");
    }
}

#[test]
fn in_the_open_profile_it_is_linuxs() {
    let tree = Fdt::new(tree::usb("host", &MEMORY).leak()).expect("a device tree");
    let devices = found(&tree, DmaProfile::Open);
    assert!(devices.usb.is_none() && is_mapped(&devices));
}
