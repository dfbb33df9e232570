// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the boot stage makes of a Juno board's device tree. No emulator has that board.

mod tree;

use std::cell::RefCell;

use donjon_abi::boot_info::{Conduit, ConsoleKind};
use donjon_abi::manifest::DmaProfile;
use donjon_boot::bridge::Behind;
use donjon_boot::device_tree::Memory;
use donjon_boot::devices::Devices;
use donjon_boot::failure::Failure;
use donjon_boot::usb::Usb;
use donjon_boot::{board, device_tree, devices, nodes, reserved};
use donjon_core::cpu::cpus::CpuSet;
use donjon_core::range::Range;
use dtoolkit::fdt::Fdt;
use dtoolkit::{Node, Property};

const DMA: &str = "copies to any address";
const DEBUG: &str = "debug or trace: drives CPUs or writes memory through one";
const IOMMU: &str = "writes its queues anywhere and aims other devices";
const MAILBOX: &str = "makes firmware on another processor write memory";
const WATCHDOG: &str = "resets the machine before the memory of compartments is wiped";
const NO_RULE: &str = "no rule for it";
const FPGA: &str = "/bus@8000000/motherboard-bus@8000000/iofpga-bus@300000000";

fn tree() -> Fdt<'static> {
    Fdt::new(tree::juno().leak()).expect("a device tree")
}

/// Hardware that must not be asked.
struct Silent;

impl devices::Hardware for Silent {
    fn read(&self, register: u64) -> u32 {
        panic!("{register:#x} was read")
    }

    fn take_over(&self, behind: &Behind) -> Result<(), String> {
        panic!("{behind:?} was taken over")
    }

    fn take_over_usb(&self, usb: &Usb, _: Option<u64>) -> Result<bool, String> {
        panic!("{} was taken over", usb.path)
    }
}

fn found(tree: &Fdt, profile: DmaProfile) -> Result<Devices, Failure> {
    let banks = device_tree::memory(tree)?;
    // A GICv2 has no redistributors.
    devices::find(tree, &banks, profile, &Silent)
}

/// First and last address.
fn ranges(list: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    list.map(|(start, end)| (start, end - 1)).collect()
}

#[test]
fn six_cpus_of_two_clusters_are_started_by_firmware() {
    let tree = tree();
    for level in [1, 2] {
        let conduit = device_tree::conduit(&tree, level, board::power(&tree).is_some());
        assert_eq!(conduit, Conduit::Smc, "entered at EL{level}");
    }
    let cpus = device_tree::cpus(&tree, Conduit::Smc).expect("CPUs");
    let affinities: Vec<u64> = cpus.iter().map(|it| it.affinity).collect();
    assert_eq!(affinities, [0, 1, 0x100, 0x101, 0x102, 0x103]);
    assert!(cpus.iter().all(|it| it.release.is_none()));
    let set = CpuSet::new(affinities).expect("distinct stacks");
    let indices: Vec<usize> = set.iter().map(|it| it.0).collect();
    assert_eq!(indices, [0, 1, 4, 5, 6, 7]);
}

#[test]
fn memory_has_a_bank_above_32_gib() {
    let banks = device_tree::memory(&tree()).expect("banks");
    assert_eq!(
        ranges(banks.iter().map(|it| (it.start(), it.end()))),
        [(0x8000_0000, 0xfeff_ffff), (0x8_8000_0000, 0x9_ffff_ffff)]
    );
}

#[test]
fn the_console_is_the_serial_port_of_the_chip() {
    let console = device_tree::console(&tree());
    assert_eq!(console, Some((ConsoleKind::Pl011, 0x7ff8_0000)));
}

#[test]
fn linux_may_map_these_devices_and_no_others() {
    let tree = tree();
    for profile in [DmaProfile::Strict, DmaProfile::Open] {
        let found = found(&tree, profile).expect("devices");
        let mut allowed = ranges(found.allowed.iter().map(|it| (it.start, it.end)));
        // A reset of its own would leave the memory of compartments as it is.
        let watchdog = (0x1c0f_0000, 0x1c0f_ffff);
        let before = allowed.len();
        allowed.retain(|it| *it != watchdog);
        assert_eq!(allowed.len() < before, profile == DmaProfile::Open);
        assert_eq!(
            allowed,
            [
                (0x1800_0000, 0x1800_ffff), // Ethernet.
                (0x1c05_0000, 0x1c05_0fff), // SD card.
                (0x1c06_0000, 0x1c06_0fff), // Keyboard.
                (0x1c11_0000, 0x1c12_ffff), // Timers.
                (0x1c17_0000, 0x1c17_ffff), // Clock.
                (0x1c1d_0000, 0x1c1d_0fff), // GPIO.
                (0x2a81_0000, 0x2a81_ffff), // Timer, without its frame.
                (0x2c01_0000, 0x2c01_0fff), // GICv2.
                (0x2c02_f000, 0x2c03_0fff),
                (0x2c04_f000, 0x2c05_0fff),
                (0x2c06_f000, 0x2c07_0fff),
                (0x2c1c_0000, 0x2c1f_ffff), // GICv2m.
                (0x7ff8_0000, 0x7ff8_0fff), // Serial port.
            ],
            "{}",
            profile.name()
        );
        assert!(found.readable.is_empty() && found.mediated.is_empty());
        assert_eq!(found.mailbox, None);
    }
}

#[test]
fn what_is_withheld_is_said() {
    let lines = RefCell::new(Vec::new());
    let found = found(&tree(), DmaProfile::Open).expect("devices");
    found.report(|line| lines.borrow_mut().push(line.to_string()));
    let expected = [
        (format!("{FPGA}/sysctl@20000"), "arm,sp810", NO_RULE),
        (
            format!("{FPGA}/apbregs@10000"),
            "arm,juno-fpga-apb-regs",
            NO_RULE,
        ),
        (
            format!("{FPGA}/apbregs@10000/led@8,0"),
            "register-bit-led",
            NO_RULE,
        ),
        (
            "/timer@2a810000/frame@2a830000".into(),
            "-",
            "the device tree does not say what it is",
        ),
        ("/mhu@2b1f0000".into(), "arm,mhu", MAILBOX),
        ("/iommu@2b500000".into(), "arm,mmu-401", IOMMU),
        ("/etr@20070000".into(), "arm,coresight-tmc", DEBUG),
        ("/stm@20100000".into(), "arm,coresight-stm", DEBUG),
        (
            "/cpu-debug@22010000".into(),
            "arm,coresight-cpu-debug",
            DEBUG,
        ),
        ("/gpu@2d000000".into(), "arm,juno-mali", NO_RULE),
        ("/sram@2e000000".into(), "arm,juno-sram-ns", NO_RULE),
        ("/pcie@40000000".into(), "arm,juno-r1-pcie", NO_RULE),
        ("/dma-controller@7ff00000".into(), "arm,pl330", DMA),
        ("/hdlcd@7ff60000".into(), "arm,hdlcd", NO_RULE),
        ("/i2c@7ffa0000".into(), "snps,designware-i2c", NO_RULE),
        ("/usb@7ffb0000".into(), "generic-ohci", DMA),
        ("/usb@7ffc0000".into(), "generic-ehci", DMA),
        ("/memory-controller@7ffd0000".into(), "arm,pl354", NO_RULE),
    ];
    let expected = expected.map(|(path, name, why)| format!("withheld: {path} ({name}): {why}"));
    let open = format!("open: 1 of arm,sp805: {WATCHDOG}");
    assert_eq!(lines.take(), [&expected[..], &[open]].concat());
    let found = self::found(&tree(), DmaProfile::Strict).expect("devices");
    found.report(|line| lines.borrow_mut().push(line.to_string()));
    let watchdog = format!("withheld: {FPGA}/watchdog@f0000 (arm,sp805): {WATCHDOG}");
    assert!(lines.borrow().contains(&watchdog));
    assert!(!lines.borrow().iter().any(|it| it.starts_with("open")));
}

#[test]
fn an_interrupt_controller_without_a_rule_is_refused() {
    let bytes = tree::with_interrupt_controller(&["arm,gic-next", "arm,gic-400"]);
    let tree = Fdt::new(&bytes).expect("a device tree");
    match found(&tree, DmaProfile::Open) {
        Err(Failure::InterruptController(name, _)) => assert_eq!(name, "arm,gic-next"),
        Err(other) => panic!("refused for another reason: {other}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn linux_gets_a_tree_without_the_withheld_devices() {
    let tree = tree();
    let devices = found(&tree, DmaProfile::Strict).expect("devices");
    let banks = device_tree::memory(&tree).expect("banks");
    let reserved = reserved::find(&tree, &banks, &[], &devices).expect("reserved memory");
    assert_eq!(reserved.ranges().count(), 0, "the tree sets nothing aside");
    let inner = Range::new(0x9_f000_0000, 0x9_f100_0000).expect("a range");
    let memory = Memory {
        withheld: &[inner],
        reserve: None,
        unused: &[],
        reserved: &reserved,
    };
    let amended = device_tree::amend(&tree, &memory, &devices, Conduit::Smc);
    let amended = amended.expect("a tree for Linux").leak();
    let amended = Fdt::new(amended).expect("a device tree");
    let is_enabled = |path: &str| nodes::is_enabled(&amended.find_node(path).expect("a node"));
    for withheld in [
        "/dma-controller@7ff00000",
        "/usb@7ffc0000",
        "/pcie@40000000",
    ] {
        assert!(!is_enabled(withheld), "{withheld}");
    }
    for kept in [
        "/serial@7ff80000",
        "/interrupt-controller@2c010000",
        "/pmu-a53",
        "/pmu-a57",
    ] {
        assert!(is_enabled(kept), "{kept}");
    }
    let node = amended.find_node("/reserved-memory/donjon@9f0000000");
    let reg = node.expect("the inner domain's memory");
    let reg = reg.property("reg").expect("its place");
    assert_eq!(
        reg.value(),
        [0, 0, 0, 9, 0xf0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    );
    assert!(amended.find_node("/donjon").is_some());
    assert_eq!(
        device_tree::cpus(&amended, Conduit::Smc)
            .expect("CPUs")
            .len(),
        6
    );
}
