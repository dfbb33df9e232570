// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pins of a Raspberry Pi, and what is plugged into sockets, by device trees with few nodes.

mod tree;
mod usb;

use std::cell::RefCell;

use donjon_abi::boot_info::Conduit;
use donjon_abi::manifest::DmaProfile;
use donjon_boot::bridge::Behind;
use donjon_boot::device_tree::Memory;
use donjon_boot::devices::Devices;
use donjon_boot::usb::Usb;
use donjon_boot::{device_tree, devices, nodes, pins, reserved};
use donjon_core::devices::pins::{Chip, Registers};
use dtoolkit::fdt::Fdt;
use dtoolkit::{Node, Property};

const PINS: u64 = 0x3f20_0000;

/// Registers of 32 bits, by their addresses.
struct Registers32<F>(F);

impl<F: Fn(u64) -> u32> devices::Hardware for Registers32<F> {
    fn read(&self, register: u64) -> u32 {
        self.0(register)
    }

    fn take_over(&self, behind: &Behind) -> Result<(), String> {
        panic!("{behind:?} was taken over")
    }

    fn take_over_usb(&self, usb: &Usb, _: Option<u64>) -> Result<bool, String> {
        assert_eq!(usb.registers.start(), usb::REGISTERS);
        Ok(true)
    }
}

fn found(tree: &Fdt, profile: DmaProfile) -> Devices {
    devices::find(
        tree,
        &[],
        profile,
        &Registers32(|register| panic!("{register:#x} was read")),
    )
    .expect("devices")
}

struct Words([u32; 64]);

impl Default for Words {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl Registers for Words {
    fn read(&self, offset: u64) -> u32 {
        self.0[offset as usize / 4]
    }

    fn write(&mut self, offset: u64, value: u32) {
        self.0[offset as usize / 4] = value;
    }

    fn wait(&mut self) {}
}

/// The registers of pins, and the lines, after the boot stage has set the pins of a tree.
fn applied(tree: &Fdt, mut registers: Words) -> (Words, Vec<String>) {
    let devices = found(tree, DmaProfile::Strict);
    let controller = devices.pins.as_ref().expect("it is withheld");
    assert_eq!(
        (controller.chip, controller.registers),
        (Chip::Bcm2835, PINS)
    );
    let pins = pins::find(tree, controller, &devices.pin_states);
    let lines = RefCell::new(Vec::new());
    pins.apply(controller.chip, &mut registers, |line| {
        lines.borrow_mut().push(line.to_string());
    });
    (registers, lines.into_inner())
}

#[test]
fn pins_are_linuxs_in_the_open_profile_alone() {
    let tree = Fdt::new(tree::pi(&[]).leak()).expect("a device tree");
    for (profile, is_linuxs) in [(DmaProfile::Strict, false), (DmaProfile::Open, true)] {
        let devices = found(&tree, profile);
        let has_page = devices
            .allowed
            .iter()
            .any(|it| it.start <= PINS && PINS < it.end);
        assert_eq!(has_page, is_linuxs, "{}", profile.name());
        assert_eq!(devices.pins.is_none(), is_linuxs);
        let readable = devices.readable.iter().any(|it| it.start() == PINS);
        assert!(!readable, "levels say what the debug port answers");
    }
}

#[test]
fn pins_of_linuxs_devices_have_the_functions_of_the_tree() {
    let tree = Fdt::new(tree::pi(&[]).leak()).expect("a device tree");
    let (registers, lines) = applied(&tree, Words::default());
    // ALT0 of 48 to 53 for the SD card, ALT5 of 14 and 15 for the UART; 2 and 3 are those of I2C,
    // which is withheld.
    assert_eq!(registers.0[4], 0b100 << 24 | 0b100 << 27);
    assert_eq!(registers.0[5], 0b100_100_100_100);
    assert_eq!(registers.0[1], 0b010 << 12 | 0b010 << 15);
    assert_eq!(registers.0[0], 0);
    assert_eq!(lines, ["pins: 8 have the functions of the tree"]);
}

#[test]
fn a_group_of_the_debug_port_is_left_out_and_said() {
    let tree = Fdt::new(tree::pi(&[tree::JTAG]).leak()).expect("a device tree");
    let (registers, lines) = applied(&tree, Words::default());
    assert_eq!(registers.0[2], 0);
    assert_eq!(lines[1], "pins: jtag-gpio22 stay as the firmware left them");
    assert_eq!(lines.len(), 2);
    let mut led = Words::default();
    led.0[2] = 0b011 << 6;
    let (registers, lines) = applied(&tree, led);
    assert_eq!(registers.0[2], 0b011 << 6, "it is the owner's choice");
    assert!(lines[2].contains("the firmware led the cores' debug port to GPIO 22"));
}

#[test]
fn linuxs_tree_names_no_pins_where_it_has_no_controller() {
    let tree = Fdt::new(tree::pi(&[]).leak()).expect("a device tree");
    for (profile, names_pins) in [(DmaProfile::Strict, false), (DmaProfile::Open, true)] {
        let devices = found(&tree, profile);
        let reserved = reserved::find(&tree, &[], &[], &devices).expect("reserved memory");
        let memory = Memory {
            withheld: &[],
            reserve: None,
            unused: &[],
            reserved: &reserved,
        };
        let amended = device_tree::amend(&tree, &memory, &devices, Conduit::Smc);
        let amended = amended.expect("a tree for Linux").leak();
        let amended = Fdt::new(amended).expect("a device tree");
        for device in ["/soc/mmc@7e202000", "/soc/serial@7e215040"] {
            let node = amended.find_node(device).expect("a node");
            for name in ["pinctrl-0", "pinctrl-names"] {
                let is_there = node.property(name).is_some();
                assert_eq!(is_there, names_pins, "{device} {name}");
            }
            assert!(node.property("reg").is_some());
        }
        let pins = amended.find_node("/soc/gpio@7e200000").expect("a node");
        assert_eq!(nodes::is_enabled(&pins), names_pins);
        // Its pins are another controller's.
        let other = amended.find_node("/soc/rng@7e104000").expect("a node");
        assert_eq!(
            other.property("pinctrl-0").expect("kept").value(),
            [0, 0, 0, 9]
        );
    }
}

#[test]
fn what_is_plugged_into_a_socket_is_named() {
    let tree = Fdt::new(tree::sockets().leak()).expect("a device tree");
    let said = |read: &dyn Fn(u64) -> u32| {
        let hardware = Registers32(read);
        let found = devices::find(&tree, &[], DmaProfile::Open, &hardware).expect("devices");
        let lines = RefCell::new(Vec::new());
        found.report(|line| lines.borrow_mut().push(line.to_string()));
        lines.into_inner()
    };
    let empty = |register: u64| match register {
        0xa00_0000 | 0xa00_0200 => 0x7472_6976,
        0xa00_0008 | 0xa00_0208 => 0,
        register => {
            assert!((0x3f00_0000..0x3f10_0000).contains(&register));
            u32::MAX
        }
    };
    let lines = |windows: &str, pci: &str| {
        [
            format!(
                "open: 2 of virtio,mmio, {windows}: its queues read and write any memory: DMA, and \
                 nothing stands between"
            ),
            format!(
                "open: 1 of pci-host-ecam-generic, {pci}: what is plugged in behind it reads and \
                 writes any memory: DMA, and in the open profile nothing stands between"
            ),
        ]
    };
    let none = "nothing plugged in";
    assert_eq!(said(&empty), lines(none, none));
    let plugged = |register: u64| match register {
        0xa00_0208 => 3,
        0x3f00_8000 => 0x1041_1af4,
        0x3f00_8008 => 0x0200_0000,
        0x3f00_800c => 0,
        register => empty(register),
    };
    assert_eq!(
        said(&plugged),
        lines(
            "plugged in: console (3) at 0xa000200",
            "plugged in: 1af4:1041 at 00:01.0"
        )
    );
}
