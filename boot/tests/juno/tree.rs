// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device tree of the shape of a Juno r1: two clusters of unlike cores, two banks of memory of
//! which one is above 32 GiB, buses within buses, a GICv2m, and devices that Linux must not get.

use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

/// The interrupt controller's phandle.
const GIC: u32 = 1;

type Bytes = Vec<u8>;

fn cells(list: &[u32]) -> Bytes {
    list.iter().flat_map(|it| it.to_be_bytes()).collect()
}

fn text(list: &[&str]) -> Bytes {
    list.iter()
        .flat_map(|it| [it.as_bytes(), b"\0"].concat())
        .collect()
}

fn node(name: &str, properties: &[(&str, Bytes)], children: Vec<DeviceTreeNode>) -> DeviceTreeNode {
    let mut node = DeviceTreeNode::new_unchecked(name);
    for (name, value) in properties {
        node.add_property(DeviceTreeProperty::new_unchecked(*name, value.clone()));
    }
    for child in children {
        node.add_child(child);
    }
    node
}

/// A device with registers.
fn device(name: &str, compatible: &[&str], reg: &[u32]) -> DeviceTreeNode {
    let properties = [("compatible", text(compatible)), ("reg", cells(reg))];
    node(name, &properties, vec![])
}

fn with(mut node: DeviceTreeNode, name: &str, value: Bytes) -> DeviceTreeNode {
    node.add_property(DeviceTreeProperty::new_unchecked(name, value));
    node
}

fn disabled(node: DeviceTreeNode) -> DeviceTreeNode {
    with(node, "status", text(&["disabled"]))
}

/// A bus: how many cells an address and a size have there, and where it appears.
fn bus(name: &str, of: (u32, u32), ranges: &[u32], below: Vec<DeviceTreeNode>) -> DeviceTreeNode {
    let properties = [
        ("compatible", text(&["simple-bus"])),
        ("#address-cells", cells(&[of.0])),
        ("#size-cells", cells(&[of.1])),
        ("ranges", cells(ranges)),
    ];
    node(name, &properties, below)
}

fn cpu(affinity: u32, kind: &str) -> DeviceTreeNode {
    let properties = [
        ("compatible", text(&[kind])),
        ("reg", cells(&[0, affinity])),
        ("device_type", text(&["cpu"])),
        ("enable-method", text(&["psci"])),
        ("phandle", cells(&[0x20 + affinity])),
    ];
    node(&format!("cpu@{affinity:x}"), &properties, vec![])
}

fn cpus() -> DeviceTreeNode {
    let core = |affinity: u32| {
        let name = format!("core{}", affinity & 0xff);
        node(&name, &[("cpu", cells(&[0x20 + affinity]))], vec![])
    };
    let map = vec![
        node("cluster0", &[], [0, 1].map(core).into()),
        node(
            "cluster1",
            &[],
            [0x100, 0x101, 0x102, 0x103].map(core).into(),
        ),
    ];
    let mut below = vec![
        node("cpu-map", &[], map),
        node("idle-states", &[("entry-method", text(&["psci"]))], vec![]),
    ];
    below.extend([0, 1].map(|it| cpu(it, "arm,cortex-a57")));
    below.extend([0x100, 0x101, 0x102, 0x103].map(|it| cpu(it, "arm,cortex-a53")));
    let cache = ("compatible", text(&["cache"]));
    below.extend(
        ["l2-cache0", "l2-cache1"].map(|it| node(it, std::slice::from_ref(&cache), vec![])),
    );
    let properties = [
        ("#address-cells", cells(&[2])),
        ("#size-cells", cells(&[0])),
    ];
    node("cpus", &properties, below)
}

/// The counters of each type of core: no registers, and interrupts of their own.
fn counters(kind: &str, interrupts: &[u32], cpus: &[u32]) -> DeviceTreeNode {
    let affinity: Vec<u32> = cpus.iter().map(|it| 0x20 + it).collect();
    let interrupts: Vec<u32> = interrupts.iter().flat_map(|it| [0, *it, 4]).collect();
    let properties = [
        ("compatible", text(&[&format!("arm,cortex-{kind}-pmu")])),
        ("interrupts", cells(&interrupts)),
        ("interrupt-affinity", cells(&affinity)),
    ];
    node(&format!("pmu-{kind}"), &properties, vec![])
}

/// The motherboard: chip selects of two cells, and behind one of them a bus of one cell.
fn motherboard() -> DeviceTreeNode {
    let cell = "arm,primecell";
    let led = device("led@8,0", &["register-bit-led"], &[8, 4]);
    let registers = [
        (
            "compatible",
            text(&["arm,juno-fpga-apb-regs", "syscon", "simple-mfd"]),
        ),
        ("reg", cells(&[0x1_0000, 0x1000])),
        ("#address-cells", cells(&[1])),
        ("#size-cells", cells(&[1])),
        ("ranges", cells(&[0, 0x1_0000, 0x1000])),
    ];
    let fpga = vec![
        device("sysctl@20000", &["arm,sp810", cell], &[0x2_0000, 0x1000]),
        node("apbregs@10000", &registers, vec![led]),
        device("mmc@50000", &["arm,pl180", cell], &[0x5_0000, 0x1000]),
        device("kmi@60000", &["arm,pl050", cell], &[0x6_0000, 0x1000]),
        device(
            "watchdog@f0000",
            &["arm,sp805", cell],
            &[0xf_0000, 0x1_0000],
        ),
        device("timer@110000", &["arm,sp804", cell], &[0x11_0000, 0x1_0000]),
        device("timer@120000", &["arm,sp804", cell], &[0x12_0000, 0x1_0000]),
        device("rtc@170000", &["arm,pl031", cell], &[0x17_0000, 0x1_0000]),
        device("gpio@1d0000", &["arm,pl061", cell], &[0x1d_0000, 0x1000]),
    ];
    let flash = device(
        "flash@0",
        &["arm,vexpress-flash", "cfi-flash"],
        &[0, 0, 0x400_0000],
    );
    let ethernet = ["smsc,lan9118", "smsc,lan9115"];
    let selects = [
        [0, 0, 0, 0x0800_0000, 0x400_0000],
        [1, 0, 0, 0x1400_0000, 0x400_0000],
        [2, 0, 0, 0x1800_0000, 0x400_0000],
        [3, 0, 0, 0x1c00_0000, 0x400_0000],
    ];
    let below = vec![
        disabled(flash),
        device("ethernet@200000000", &ethernet, &[2, 0, 0x1_0000]),
        bus("iofpga-bus@300000000", (1, 1), &[0, 3, 0, 0x20_0000], fpga),
    ];
    let inner = bus("motherboard-bus@8000000", (2, 1), &selects.concat(), below);
    let outer = [0, 0x0800_0000, 0, 0x0800_0000, 0x1800_0000];
    bus("bus@8000000", (2, 1), &outer, vec![inner])
}

fn interrupt_controller(compatible: &[&str]) -> DeviceTreeNode {
    let frame = |at: u32| {
        let name = format!("v2m@{at:x}");
        device(&name, &["arm,gic-v2m-frame"], &[at, 0x1_0000])
    };
    let registers = [
        [0, 0x2c01_0000, 0, 0x1000],
        [0, 0x2c02_f000, 0, 0x2000],
        [0, 0x2c04_f000, 0, 0x2000],
        [0, 0x2c06_f000, 0, 0x2000],
    ];
    let properties = [
        ("compatible", text(compatible)),
        ("reg", cells(&registers.concat())),
        ("#address-cells", cells(&[1])),
        ("#size-cells", cells(&[1])),
        ("ranges", cells(&[0, 0, 0x2c1c_0000, 0x4_0000])),
        ("phandle", cells(&[GIC])),
    ];
    let frames = [0, 0x1_0000, 0x2_0000, 0x3_0000].map(frame);
    node("interrupt-controller@2c010000", &properties, frames.into())
}

fn pcie() -> DeviceTreeNode {
    let names = [
        "arm,juno-r1-pcie",
        "plda,xpressrich3-axi",
        "pci-host-ecam-generic",
    ];
    let io = [0x0100_0000, 0, 0, 0, 0x5f80_0000, 0, 0x80_0000];
    let memory = [0x0200_0000, 0, 0x5000_0000, 0, 0x5000_0000, 0, 0x800_0000];
    let properties = [
        ("compatible", text(&names)),
        ("device_type", text(&["pci"])),
        ("reg", cells(&[0, 0x4000_0000, 0, 0x1000_0000])),
        ("#address-cells", cells(&[3])),
        ("#size-cells", cells(&[2])),
        ("ranges", cells(&[io, memory].concat())),
    ];
    node("pcie@40000000", &properties, vec![])
}

/// Devices of the chip, with addresses and sizes of two cells.
fn chip() -> Vec<DeviceTreeNode> {
    let cell = "arm,primecell";
    let at = |name: &str, compatible: &[&str], start: u32, size: u32| {
        device(name, compatible, &[0, start, 0, size])
    };
    let smmu = ["arm,mmu-401", "arm,smmu-v1"];
    let frame = device("frame@2a830000", &[], &[0x1_0000, 0x1_0000]);
    let timer = [
        ("compatible", text(&["arm,armv7-timer-mem"])),
        ("reg", cells(&[0, 0x2a81_0000, 0, 0x1_0000])),
        ("#address-cells", cells(&[1])),
        ("#size-cells", cells(&[1])),
        ("ranges", cells(&[0, 0, 0x2a82_0000, 0x2_0000])),
    ];
    let mut frame = frame;
    frame.remove_property("compatible");
    let trace = [0, 0x2010_0000, 0, 0x1000, 0, 0x2800_0000, 0, 0x100_0000];
    vec![
        node("timer@2a810000", &timer, vec![frame]),
        at("mhu@2b1f0000", &["arm,mhu", cell], 0x2b1f_0000, 0x1000),
        disabled(at("iommu@2b400000", &smmu, 0x2b40_0000, 0x1_0000)),
        at("iommu@2b500000", &smmu, 0x2b50_0000, 0x1_0000),
        at(
            "etr@20070000",
            &["arm,coresight-tmc", cell],
            0x2007_0000,
            0x1000,
        ),
        device("stm@20100000", &["arm,coresight-stm", cell], &trace),
        at(
            "cpu-debug@22010000",
            &["arm,coresight-cpu-debug", cell],
            0x2201_0000,
            0x1000,
        ),
        at(
            "gpu@2d000000",
            &["arm,juno-mali", "arm,mali-t624"],
            0x2d00_0000,
            0x1_0000,
        ),
        at(
            "sram@2e000000",
            &["arm,juno-sram-ns", "mmio-sram"],
            0x2e00_0000,
            0x8000,
        ),
        pcie(),
        at(
            "dma-controller@7ff00000",
            &["arm,pl330", cell],
            0x7ff0_0000,
            0x1000,
        ),
        at("hdlcd@7ff60000", &["arm,hdlcd"], 0x7ff6_0000, 0x1000),
        at("serial@7ff80000", &["arm,pl011", cell], 0x7ff8_0000, 0x1000),
        at(
            "i2c@7ffa0000",
            &["snps,designware-i2c"],
            0x7ffa_0000,
            0x1000,
        ),
        at("usb@7ffb0000", &["generic-ohci"], 0x7ffb_0000, 0x1_0000),
        at("usb@7ffc0000", &["generic-ehci"], 0x7ffc_0000, 0x1_0000),
        at(
            "memory-controller@7ffd0000",
            &["arm,pl354", cell],
            0x7ffd_0000,
            0x1000,
        ),
    ]
}

/// The tree with an interrupt controller of this name.
pub fn with_interrupt_controller(compatible: &[&str]) -> Bytes {
    let banks = [
        [0, 0x8000_0000, 0, 0x7f00_0000],
        [8, 0x8000_0000, 1, 0x8000_0000],
    ];
    let memory = [
        ("device_type", text(&["memory"])),
        ("reg", cells(&banks.concat())),
    ];
    let psci = [
        ("compatible", text(&["arm,psci-0.2"])),
        ("method", text(&["smc"])),
    ];
    let clock = [
        ("compatible", text(&["fixed-clock"])),
        ("clock-frequency", cells(&[7_372_800])),
    ];
    let console = ("stdout-path", text(&["serial0:115200n8"]));
    let mut nodes = vec![
        node("clock-7372800", &clock, vec![]),
        motherboard(),
        interrupt_controller(compatible),
    ];
    nodes.extend(chip());
    nodes.extend([
        node("memory@80000000", &memory, vec![]),
        node(
            "aliases",
            &[("serial0", text(&["/serial@7ff80000"]))],
            vec![],
        ),
        node("chosen", &[console], vec![]),
        node("psci", &psci, vec![]),
        cpus(),
        counters("a57", &[2, 6], &[0, 1]),
        counters("a53", &[18, 22, 26, 30], &[0x100, 0x101, 0x102, 0x103]),
    ]);
    let root = [
        ("model", text(&["a board of the shape of a Juno r1"])),
        (
            "compatible",
            text(&["arm,juno-r1", "arm,juno", "arm,vexpress"]),
        ),
        ("interrupt-parent", cells(&[GIC])),
        ("#address-cells", cells(&[2])),
        ("#size-cells", cells(&[2])),
    ];
    let mut tree = DeviceTree::new();
    tree.root = node("", &root, nodes);
    tree.to_dtb()
}

/// The tree.
pub fn juno() -> Bytes {
    with_interrupt_controller(&["arm,gic-400", "arm,cortex-a15-gic"])
}
