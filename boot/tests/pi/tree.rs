// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device trees with the nodes that matter here.

use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

/// The device that a tree may have beside others: its pins are the debug port's.
pub const JTAG: (&str, &str, u32, u32) = ("rng@7e104010", "brcm,bcm2835-rng", 0x7e10_4010, 4);

fn cells(list: &[u32]) -> Vec<u8> {
    list.iter().flat_map(|it| it.to_be_bytes()).collect()
}

fn node(name: &str, words: &[(&str, &str)], numbers: &[(&str, &[u32])]) -> DeviceTreeNode {
    let mut node = DeviceTreeNode::new_unchecked(name);
    for (name, value) in words {
        node.add_property(DeviceTreeProperty::new_unchecked(*name, *value));
    }
    for (name, value) in numbers {
        node.add_property(DeviceTreeProperty::new_unchecked(*name, cells(value)));
    }
    node
}

const ONE_AND_ONE: [(&str, &[u32]); 2] = [("#address-cells", &[1]), ("#size-cells", &[1])];

fn root() -> DeviceTree {
    let mut tree = DeviceTree::new();
    tree.root = node("", &[], &ONE_AND_ONE);
    tree
}

fn device(name: &str, compatible: &str, registers: u32, pins: u32) -> DeviceTreeNode {
    let words = [("compatible", compatible), ("pinctrl-names", "default")];
    node(
        name,
        &words,
        &[("reg", &[registers, 0x10]), ("pinctrl-0", &[pins])],
    )
}

/// A part of a Raspberry Pi 3: an SD card, a UART, a bus that is withheld, and a device whose pins
/// another controller has. `more` are more devices: node, `compatible`, registers, pins.
pub fn pi(more: &[(&str, &str, u32, u32)]) -> Vec<u8> {
    let mut tree = root();
    let mut soc = node("soc", &[("compatible", "simple-bus")], &ONE_AND_ONE);
    let window = cells(&[0x7e00_0000, 0x3f00_0000, 0x100_0000]);
    soc.add_property(DeviceTreeProperty::new_unchecked("ranges", window));
    let registers: [(&str, &[u32]); 1] = [("reg", &[0x7e20_0000, 0xb4])];
    let mut gpio = node(
        "gpio@7e200000",
        &[("compatible", "brcm,bcm2835-gpio")],
        &registers,
    );
    let groups: [(&str, u32, &[u32], u32); 4] = [
        ("sdhost-gpio48", 1, &[48, 49, 50, 51, 52, 53], 4),
        ("uart1-gpio14", 2, &[14, 15], 2),
        ("i2c1-gpio2", 3, &[2, 3], 4),
        ("jtag-gpio22", 4, &[22, 23, 24, 25, 26, 27], 3),
    ];
    for (name, phandle, pins, function) in groups {
        gpio.add_child(node(
            name,
            &[],
            &[
                ("phandle", &[phandle]),
                ("brcm,pins", pins),
                ("brcm,function", &[function]),
            ],
        ));
    }
    soc.add_child(gpio);
    for (name, compatible, registers, pins) in [
        ("mmc@7e202000", "brcm,bcm2835-sdhost", 0x7e20_2000, 1),
        ("serial@7e215040", "brcm,bcm2835-aux-uart", 0x7e21_5040, 2),
        ("i2c@7e804000", "brcm,bcm2835-i2c", 0x7e80_4000, 3),
        ("rng@7e104000", "brcm,bcm2835-rng", 0x7e10_4000, 9),
    ]
    .iter()
    .chain(more)
    {
        soc.add_child(device(name, compatible, *registers, *pins));
    }
    tree.root.add_child(soc);
    tree.to_dtb()
}

/// Two windows of virtio, and PCI.
pub fn sockets() -> Vec<u8> {
    let mut tree = root();
    for (name, at) in [
        ("virtio@a000000", 0xa00_0000),
        ("virtio@a000200", 0xa00_0200),
    ] {
        let words = [("compatible", "virtio,mmio")];
        tree.root
            .add_child(node(name, &words, &[("reg", &[at, 0x200])]));
    }
    let words = [
        ("compatible", "pci-host-ecam-generic"),
        ("device_type", "pci"),
    ];
    let mut pci = node(
        "pcie@3f000000",
        &words,
        &[("reg", &[0x3f00_0000, 0x10_0000])],
    );
    let numbers: [(&str, u32); 2] = [("#address-cells", 3), ("#size-cells", 2)];
    for (name, value) in numbers {
        pci.add_property(DeviceTreeProperty::new_unchecked(name, value));
    }
    tree.root.add_child(pci);
    tree.to_dtb()
}

/// A USB controller on a bus that finds memory by this `dma-ranges`, in a role.
pub fn usb(role: &str, memory: &[u32]) -> Vec<u8> {
    let mut tree = root();
    let mut soc = node("soc", &[("compatible", "simple-bus")], &ONE_AND_ONE);
    let window = cells(&[0x7e00_0000, 0x3f00_0000, 0x100_0000]);
    soc.add_property(DeviceTreeProperty::new_unchecked("ranges", window));
    soc.add_property(DeviceTreeProperty::new_unchecked(
        "dma-ranges",
        cells(memory),
    ));
    let words = [("compatible", "brcm,bcm2835-usb"), ("dr_mode", role)];
    let numbers: [(&str, &[u32]); 2] = [
        ("reg", &[0x7e98_0000, 0x1_0000]),
        ("power-domains", &[7, 6]),
    ];
    soc.add_child(node("usb@7e980000", &words, &numbers));
    tree.root.add_child(soc);
    tree.to_dtb()
}
