// SPDX-License-Identifier: MIT OR Apache-2.0
//! A part of the device tree of a machine with a PCI bridge behind an SMMU.

use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

/// Configuration space of the bridge.
pub const CONFIGURATION: u64 = 0x40_1000_0000;
/// Registers of the SMMU.
pub const SMMU: u64 = 0x905_0000;
/// The page by which interrupts are raised.
pub const DOORBELL: u64 = 0x802_0000;
/// The phandle of the SMMU, and that of the frame.
const SMMU_HANDLE: u32 = 4;
const FRAME_HANDLE: u32 = 3;

/// What the tree says of the bridge: properties to replace, and those that it has not.
#[derive(Default)]
pub struct Changes {
    /// Name and cells of each property that is another one.
    pub other: Vec<(&'static str, Vec<u32>)>,
    /// Names of properties that are missing.
    pub missing: Vec<&'static str>,
    /// `compatible` of the SMMU, where it is another one.
    pub smmu: Option<&'static str>,
    /// Whether the SMMU's node is disabled.
    pub disabled: bool,
}

fn cells(list: &[u32]) -> Vec<u8> {
    list.iter().flat_map(|it| it.to_be_bytes()).collect()
}

fn number(node: &mut DeviceTreeNode, name: &str, list: &[u32]) {
    node.add_property(DeviceTreeProperty::new_unchecked(name, cells(list)));
}

fn word(node: &mut DeviceTreeNode, name: &str, value: &str) {
    node.add_property(DeviceTreeProperty::new_unchecked(name, value));
}

/// Makes the tree.
pub fn virt(changes: &Changes) -> Vec<u8> {
    let mut tree = DeviceTree::new();
    number(&mut tree.root, "#address-cells", &[2]);
    number(&mut tree.root, "#size-cells", &[2]);
    let mut smmu = DeviceTreeNode::new_unchecked("smmuv3@9050000");
    word(
        &mut smmu,
        "compatible",
        changes.smmu.unwrap_or("arm,smmu-v3"),
    );
    number(&mut smmu, "reg", &[0, SMMU as u32, 0, 0x2_0000]);
    number(&mut smmu, "phandle", &[SMMU_HANDLE]);
    if changes.disabled {
        word(&mut smmu, "status", "disabled");
    }
    tree.root.add_child(smmu);

    let mut controller = DeviceTreeNode::new_unchecked("intc@8000000");
    word(&mut controller, "compatible", "arm,cortex-a15-gic");
    number(&mut controller, "#address-cells", &[2]);
    number(&mut controller, "#size-cells", &[2]);
    number(&mut controller, "reg", &[0, 0x800_0000, 0, 0x1_0000]);
    number(&mut controller, "ranges", &[]);
    let mut frame = DeviceTreeNode::new_unchecked("v2m@8020000");
    word(&mut frame, "compatible", "arm,gic-v2m-frame");
    number(&mut frame, "reg", &[0, DOORBELL as u32, 0, 0x1000]);
    number(&mut frame, "phandle", &[FRAME_HANDLE]);
    controller.add_child(frame);
    tree.root.add_child(controller);

    let mut bridge = DeviceTreeNode::new_unchecked("pcie@10000000");
    word(&mut bridge, "compatible", "pci-host-ecam-generic");
    word(&mut bridge, "device_type", "pci");
    let properties: [(&str, &[u32]); 8] = [
        ("#address-cells", &[3]),
        ("#size-cells", &[2]),
        ("reg", &[0x40, 0x1000_0000, 0, 0x1000_0000]),
        ("bus-range", &[0, 0xff]),
        ("dma-coherent", &[]),
        ("iommu-map", &[0, SMMU_HANDLE, 0, 0x1_0000]),
        ("msi-map", &[0, FRAME_HANDLE, 0, 0x1_0000]),
        ("ranges", &RANGES),
    ];
    for (name, list) in properties {
        let other = changes.other.iter().find(|it| it.0 == name);
        let list = other.map_or(list, |it| it.1.as_slice());
        if !changes.missing.contains(&name) {
            number(&mut bridge, name, list);
        }
    }
    for (name, list) in &changes.other {
        if !properties.iter().any(|it| it.0 == *name) {
            number(&mut bridge, name, list);
        }
    }
    tree.root.add_child(bridge);
    tree.to_dtb()
}

/// Ports, 32-bit memory, 64-bit memory.
#[rustfmt::skip]
pub const RANGES: [u32; 21] = [
    0x100_0000, 0, 0, 0, 0x3eff_0000, 0, 0x1_0000,
    0x200_0000, 0, 0x1000_0000, 0, 0x1000_0000, 0, 0x2eff_0000,
    0x300_0000, 0x80, 0, 0x80, 0, 0x80, 0,
];
