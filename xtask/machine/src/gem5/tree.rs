// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device tree of what Donjon uses of gem5's VExpress platform (VExpress_GEM5_V1).
//!
//! gem5 can write a tree itself. Its tree has the platform's clocks and regulators, for which the
//! kernel has no drivers, and devices that the inner domain would withhold. Addresses and
//! interrupts are those of src/dev/arm/RealView.py in gem5.

use std::ops::Range;

use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

/// Where RAM begins.
pub const RAM: u64 = 0x8000_0000;

const GIC: u32 = 1;
const CLOCK: u32 = 2;
const SHARED: u32 = 0;
const PRIVATE: u32 = 1;
const RISING: u32 = 1;
const HIGH: u32 = 4;
const LOW: u32 = 8;

/// What is not the same in all trees.
pub struct Contents<'a> {
    /// Bytes of RAM.
    pub memory: u64,
    /// Whether there is a virtio device.
    pub disk: bool,
    /// Kernel parameters.
    pub words: &'a str,
    /// Physical addresses of the initial ramdisk.
    pub ramdisk: Range<u64>,
}

/// A tree.
pub fn build(contents: &Contents<'_>) -> Vec<u8> {
    let mut tree = DeviceTree::new();
    let root = &mut tree.root;
    text(root, "compatible", "arm,vexpress");
    text(root, "model", "gem5");
    cells(root, "#address-cells", &[2]);
    cells(root, "#size-cells", &[2]);
    cells(root, "interrupt-parent", &[GIC]);

    let mut chosen = DeviceTreeNode::new_unchecked("chosen");
    text(&mut chosen, "stdout-path", "/serial@1c090000");
    text(&mut chosen, "bootargs", contents.words);
    double(&mut chosen, "linux,initrd-start", contents.ramdisk.start);
    double(&mut chosen, "linux,initrd-end", contents.ramdisk.end);
    root.add_child(chosen);

    let mut ram = DeviceTreeNode::new_unchecked(format!("memory@{RAM:x}"));
    text(&mut ram, "device_type", "memory");
    registers(&mut ram, &[(RAM, contents.memory)]);
    root.add_child(ram);

    let mut cpu = DeviceTreeNode::new_unchecked("cpu@0");
    text(&mut cpu, "device_type", "cpu");
    text(&mut cpu, "compatible", "arm,cortex-a57");
    cells(&mut cpu, "reg", &[0]);
    let mut cpus = DeviceTreeNode::new_unchecked("cpus");
    cells(&mut cpus, "#address-cells", &[1]);
    cells(&mut cpus, "#size-cells", &[0]);
    cpus.add_child(cpu);
    root.add_child(cpus);

    let mut gic = DeviceTreeNode::new_unchecked("interrupt-controller@2c001000");
    text(&mut gic, "compatible", "arm,gic-400");
    registers(&mut gic, &[(0x2c00_1000, 0x1000), (0x2c00_2000, 0x2000)]);
    cells(&mut gic, "#interrupt-cells", &[3]);
    cells(&mut gic, "interrupt-controller", &[]);
    cells(&mut gic, "phandle", &[GIC]);
    root.add_child(gic);

    let mut timer = DeviceTreeNode::new_unchecked("timer");
    text(&mut timer, "compatible", "arm,armv8-timer");
    let interrupts = [13, 14, 11, 10].map(|it| [PRIVATE, it, LOW]);
    cells(&mut timer, "interrupts", interrupts.as_flattened());
    root.add_child(timer);

    let mut pmu = DeviceTreeNode::new_unchecked("pmu");
    text(&mut pmu, "compatible", "arm,armv8-pmuv3");
    cells(&mut pmu, "interrupts", &[PRIVATE, 4, HIGH]);
    root.add_child(pmu);

    let mut clock = DeviceTreeNode::new_unchecked("clock");
    text(&mut clock, "compatible", "fixed-clock");
    cells(&mut clock, "#clock-cells", &[0]);
    cells(&mut clock, "clock-frequency", &[24_000_000]);
    cells(&mut clock, "phandle", &[CLOCK]);
    root.add_child(clock);

    let mut serial = DeviceTreeNode::new_unchecked("serial@1c090000");
    text(&mut serial, "compatible", "arm,pl011\0arm,primecell");
    registers(&mut serial, &[(0x1c09_0000, 0x1000)]);
    cells(&mut serial, "interrupts", &[SHARED, 5, HIGH]);
    cells(&mut serial, "clocks", &[CLOCK, CLOCK]);
    text(&mut serial, "clock-names", "uartclk\0apb_pclk");
    root.add_child(serial);

    if contents.disk {
        let mut virtio = DeviceTreeNode::new_unchecked("virtio@1c130000");
        text(&mut virtio, "compatible", "virtio,mmio");
        registers(&mut virtio, &[(0x1c13_0000, 0x1000)]);
        cells(&mut virtio, "interrupts", &[SHARED, 42, RISING]);
        root.add_child(virtio);
    }
    tree.to_dtb()
}

/// A property of strings, with zero bytes between them.
fn text(node: &mut DeviceTreeNode, name: &str, value: &str) {
    set(node, name, [value.as_bytes(), b"\0"].concat());
}

fn cells(node: &mut DeviceTreeNode, name: &str, value: &[u32]) {
    set(
        node,
        name,
        value.iter().flat_map(|it| it.to_be_bytes()).collect(),
    );
}

fn double(node: &mut DeviceTreeNode, name: &str, value: u64) {
    set(node, name, value.to_be_bytes().to_vec());
}

fn registers(node: &mut DeviceTreeNode, ranges: &[(u64, u64)]) {
    let words = ranges.iter().flat_map(|(start, size)| [*start, *size]);
    set(node, "reg", words.flat_map(u64::to_be_bytes).collect());
}

fn set(node: &mut DeviceTreeNode, name: &str, value: Vec<u8>) {
    node.add_property(DeviceTreeProperty::new_unchecked(name, value));
}

#[cfg(test)]
mod tests {
    use super::*;
    use dtoolkit::fdt::Fdt;
    use dtoolkit::{Node, Property};

    #[test]
    fn the_tree_has_what_is_asked_for() {
        for disk in [false, true] {
            let bytes = build(&Contents {
                memory: 512 << 20,
                disk,
                words: "quiet",
                ramdisk: 0x8820_0000..0x8830_0000,
            });
            let tree = Fdt::new(&bytes).expect("a tree");
            let memory = tree.find_node("/memory@80000000").expect("RAM");
            let mut registers = memory.reg().expect("cells").expect("a property");
            let register = registers.next().expect("one");
            assert_eq!(register.address::<u64>().ok(), Some(RAM));
            assert_eq!(register.size::<u64>().ok(), Some(512 << 20));
            assert_eq!(tree.find_node("/virtio@1c130000").is_some(), disk);
            let chosen = tree.find_node("/chosen").expect("chosen");
            let words = chosen.property("bootargs").expect("parameters");
            assert_eq!(words.value(), b"quiet\0");
            let path = chosen.property("stdout-path").expect("a console");
            let path = path.value().strip_suffix(b"\0").expect("a string");
            assert!(
                tree.find_node(std::str::from_utf8(path).expect("text"))
                    .is_some()
            );
        }
    }
}
