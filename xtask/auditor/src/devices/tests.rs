// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares the auditor's list of devices with the inner domain's.

#![allow(
    clippy::single_range_in_vec_init,
    reason = "lists of ranges, most of them with one"
)]

use donjon_abi::manifest::DmaProfile;
use donjon_core::devices::{Decision, Effect, RULES, WITHHELD, decide as rules_decide};
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

use super::read;
use super::table::{MAPPED, NEVER, Part, decide};

/// What the inner domain's rules say. The one place that knows how they are asked.
fn rules_map(compatible: &[&str], dma: bool) -> bool {
    let profile = if dma {
        DmaProfile::Open
    } else {
        DmaProfile::Strict
    };
    match rules_decide(compatible.iter().copied(), profile) {
        // Strings alone do not say whether an SMMU stands between, or which role a device has.
        Decision::Mapped(rule) => {
            dma || !matches!(rule.effect, Effect::BehindSmmu | Effect::Checked)
        }
        Decision::Withheld(_) => false,
    }
}

/// The nodes of QEMU's machine `virt`, with either GIC, and others that boards have.
const NODES: [&[&str]; 45] = [
    &["arm,pl011", "arm,primecell"],
    &["arm,pl031", "arm,primecell"],
    &["arm,pl061", "arm,primecell"],
    &["arm,cortex-a15-gic"],
    &["arm,gic-400"],
    &["arm,gic-v2m-frame"],
    &["arm,gic-v3"],
    &["virtio,mmio"],
    &["pci-host-ecam-generic"],
    &["pci-host-cam-generic"],
    &[
        "arm,juno-r1-pcie",
        "plda,xpressrich3-axi",
        "pci-host-ecam-generic",
    ],
    &["qemu,fw-cfg-mmio"],
    &["arm,gic-v3-its"],
    &["arm,smmu-v3"],
    &["arm,coresight-etb10", "arm,primecell"],
    &["arm,embedded-trace-extension"],
    &["arm,pl330", "arm,primecell"],
    &["arm,pl080", "arm,primecell"],
    &["cfi-flash"],
    &["arm,cci-400"],
    &["arm,mhu", "arm,primecell"],
    &["brcm,bcm2836-l1-intc"],
    &["brcm,bcm2836-armctrl-ic"],
    &["brcm,bcm2835-system-timer"],
    &["brcm,bcm2835-gpio"],
    &["brcm,bcm2835-aux"],
    &["brcm,bcm2835-aux-uart"],
    &["brcm,bcm2835-aux-spi"],
    &["brcm,bcm2835-rng"],
    &["brcm,bcm2837-thermal"],
    &["brcm,bcm2835-sdhost"],
    &["brcm,bcm2835-sdhci"],
    &["brcm,bcm2711-gpio"],
    &["brcm,bcm2711-rng200"],
    &["brcm,bcm2711-emmc2"],
    &["brcm,bcm2835-spi"],
    &["brcm,bcm2835-pwm"],
    &["brcm,bcm2835-usb"],
    &["brcm,bcm2835-mbox"],
    &["brcm,bcm2835-vchiq"],
    &["brcm,bcm2836-vchiq", "brcm,bcm2835-vchiq"],
    &["arm,pl011", "brcm,bcm2835-mbox"],
    &["vendor,unheard-of"],
    &["vendor,uart-with-dma", "arm,pl011"],
    &[],
];

#[test]
fn rules_and_auditor_agree() {
    for names in NODES {
        for dma in [false, true] {
            let auditor = decide(names, dma).is_some();
            assert_eq!(rules_map(names, dma), auditor, "{names:?}, DMA {dma}");
        }
    }
}

/// What the rules map and the auditor does not know, because no machine with it is audited.
const ON_OTHER_BOARDS: [&str; 6] = [
    "arm,pl050",
    "arm,pl180",
    "arm,sp804",
    "arm,sp805",
    "arm,armv7-timer-mem",
    "smsc,lan9118",
];

#[test]
fn every_rule_is_the_auditors_too_or_about_another_board() {
    let known = |name: &str| MAPPED.iter().any(|it| it.compatible == name);
    let others: Vec<_> = RULES
        .iter()
        .map(|it| it.compatible)
        .filter(|it| !known(it))
        .collect();
    assert_eq!(others, ON_OTHER_BOARDS);
}

#[test]
fn what_one_list_forbids_the_other_forbids_too() {
    let theirs = WITHHELD.iter().map(|it| it.0);
    for pattern in theirs.chain(NEVER) {
        let name = pattern.replacen('*', "-1", 1);
        // Without the name the device is mapped.
        let names = ["arm,pl011", &name];
        assert!(!rules_map(&names, true), "the rules map {pattern}");
        assert_eq!(decide(&names, true), None, "the auditor allows {pattern}");
    }
}

#[test]
fn every_entry_has_a_reason_and_is_compared() {
    for known in &MAPPED {
        assert!(!known.why.is_empty());
        assert!(
            NODES.iter().any(|it| it.contains(&known.compatible)),
            "{}",
            known.compatible
        );
    }
}

#[test]
fn what_resembles_a_harmless_device_is_not_one() {
    assert_eq!(
        decide(&["arm,pl011", "arm,primecell"], true),
        Some(Part::All)
    );
    assert_eq!(decide(&["arm,primecell"], true), None);
    assert_eq!(decide(&["arm,pl330", "arm,pl011"], true), None);
    assert_eq!(decide(&["vendor,uart-with-dma", "arm,pl011"], true), None);
    assert_eq!(decide(&["arm,pl011", "arm,pl330"], true), None);
    assert_eq!(decide(&[], true), None);
}

fn node(name: &str, compatible: &str, reg: &[u64]) -> DeviceTreeNode {
    let mut node = DeviceTreeNode::new_unchecked(name);
    let list = format!("{compatible}\0");
    node.add_property(DeviceTreeProperty::new_unchecked(
        "compatible",
        list.as_bytes(),
    ));
    let cells: Vec<u8> = reg.iter().flat_map(|it| it.to_be_bytes()).collect();
    node.add_property(DeviceTreeProperty::new_unchecked("reg", cells));
    node
}

fn cpus(count: u64) -> DeviceTreeNode {
    let mut list = DeviceTreeNode::new_unchecked("cpus");
    for number in 0..count {
        let mut cpu = node(&format!("cpu@{number}"), "arm,cortex-a57", &[number]);
        let kind = DeviceTreeProperty::new_unchecked("device_type", b"cpu\0");
        cpu.add_property(kind);
        list.add_child(cpu);
    }
    list
}

fn tree(nodes: Vec<DeviceTreeNode>) -> super::Machinery {
    read(&blob(nodes), false).expect("a tree")
}

fn blob(nodes: Vec<DeviceTreeNode>) -> Vec<u8> {
    let mut tree = DeviceTree::new();
    for name in ["#address-cells", "#size-cells"] {
        let two = 2_u32.to_be_bytes();
        tree.root
            .add_property(DeviceTreeProperty::new_unchecked(name, two));
    }
    for node in nodes {
        tree.root.add_child(node);
    }
    tree.to_dtb()
}

/// A bridge, and the SMMU that it names if `has_map`.
fn bridge(has_map: bool) -> Vec<DeviceTreeNode> {
    let mut bridge = node(
        "pcie@4000000000",
        "pci-host-ecam-generic",
        &[0x7000_0000, 0x1000_0000],
    );
    if has_map {
        let map: Vec<u8> = [0, 4, 0, 0x1_0000_u32]
            .iter()
            .flat_map(|it| it.to_be_bytes())
            .collect();
        bridge.add_property(DeviceTreeProperty::new_unchecked("iommu-map", map));
    }
    vec![
        node("smmuv3@9050000", "arm,smmu-v3", &[0x905_0000, 0x2_0000]),
        bridge,
    ]
}

#[test]
fn the_first_bus_of_a_bridge_may_be_mapped_behind_an_smmu() {
    let found = tree(bridge(true));
    assert_eq!(found.behind, [0x7000_0000..0x7010_0000]);
    assert_eq!(found.smmu.map(|it| it.smmu), Some(0x905_0000));
    let alone = tree(bridge(true).split_off(1));
    assert!(alone.devices.is_empty() && alone.smmu.is_none());
    assert!(tree(bridge(false)).devices.is_empty());
    let open = read(&blob(bridge(true)), true).expect("a tree");
    assert_eq!(open.devices, [0x7000_0000..0x8000_0000]);
    assert_eq!(open.smmu, None);
}

#[test]
fn a_disabled_device_must_not_be_mapped() {
    let uart = || node("uart@9000000", "arm,pl011", &[0x900_0000, 0x1000]);
    let found = tree(vec![uart()]);
    assert_eq!(found.devices, [0x900_0000..0x900_1000]);
    for status in ["disabled", "fail", "reserved"] {
        let mut disabled = uart();
        disabled.add_property(DeviceTreeProperty::new_unchecked(
            "status",
            format!("{status}\0").as_bytes(),
        ));
        let found = tree(vec![disabled]);
        assert!(found.devices.is_empty(), "{status}");
        assert!(found.withheld.is_empty(), "{status}");
    }
}

#[test]
fn a_disabled_device_that_does_harm_takes_its_page_with_it() {
    let mut controller = node("dma@9000800", "arm,pl330", &[0x900_0800, 0x100]);
    controller.add_property(DeviceTreeProperty::new_unchecked("status", "disabled\0"));
    let found = tree(vec![
        node("uart@9000000", "arm,pl011", &[0x900_0000, 0x100]),
        controller,
    ]);
    assert_eq!(found.withheld, [0x900_0000..0x900_1000]);
}

#[test]
fn a_page_with_a_withheld_device_may_be_read() {
    let page = 0x3f00_b000;
    let controller = node("intc", "brcm,bcm2836-armctrl-ic", &[page + 0x200, 0x200]);
    let mailbox = node("mailbox", "brcm,bcm2835-mbox", &[page + 0x880, 0x40]);
    let found = tree(vec![controller, mailbox]);
    assert!(found.devices.is_empty());
    assert_eq!(found.read_only, [page..page + 0x1000]);
    assert_eq!(found.withheld, [page..page + 0x1000]);
}

#[test]
fn a_page_with_a_device_that_has_dma_may_be_written_in_the_open_profile() {
    let page = 0x3f00_b000;
    let controller = node("intc", "brcm,bcm2836-armctrl-ic", &[page + 0x200, 0x200]);
    let mailbox = node("mailbox", "brcm,bcm2835-mbox", &[page + 0x880, 0x40]);
    let found = blob(vec![controller, mailbox]);
    let found = read(&found, true).expect("a tree");
    assert_eq!(found.devices, [page..page + 0x1000]);
    assert!(found.read_only.is_empty());
    assert!(found.withheld.is_empty());
}

#[test]
fn every_second_frame_of_a_redistributor_may_be_written() {
    let (distributor, region, interface) = (0x800_0000, 0x80a_0000, 0x801_0000);
    let registers = [distributor, 0x1_0000, region, 0xf6_0000, interface, 0x2000];
    let found = tree(vec![node("gic", "arm,gic-v3", &registers), cpus(3)]);
    let cpus = 3;
    let mut devices = vec![distributor..distributor + 0x1_0000];
    let mut read_only = Vec::new();
    for at in (0..cpus).map(|it| region + it * 0x2_0000) {
        read_only.push(at..at + 0x1_0000);
        devices.push(at + 0x1_0000..at + 0x2_0000);
    }
    devices.push(interface..interface + 0x2000);
    read_only.push(region + cpus * 0x2_0000..0x900_0000);
    assert_eq!(found.devices, devices);
    assert_eq!(found.read_only, read_only);
    assert!(found.withheld.is_empty());
}

#[test]
fn a_region_has_no_more_redistributors_than_fit() {
    let gic = node("gic", "arm,gic-v3", &[0, 0x1_0000, 0x2_0000, 0x2_8000]);
    let found = tree(vec![gic, cpus(2)]);
    assert_eq!(found.devices, [0..0x1_0000, 0x3_0000..0x4_0000]);
    assert_eq!(found.read_only, [0x2_0000..0x3_0000, 0x4_0000..0x4_8000]);
}
