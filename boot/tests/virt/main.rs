// SPDX-License-Identifier: MIT OR Apache-2.0
//! A PCI bridge behind an SMMU: what the boot stage makes of its node.

mod tree;

use std::cell::RefCell;

use donjon_abi::boot_info::{Bank, Conduit};
use donjon_abi::manifest::DmaProfile;
use donjon_boot::bridge::Behind;
use donjon_boot::device_tree::{self, Memory};
use donjon_boot::devices::{self, Devices};
use donjon_boot::reserved;
use donjon_boot::usb::Usb;
use donjon_core::dma::pci::Bridge;
use donjon_core::range::Range;
use dtoolkit::fdt::Fdt;
use dtoolkit::{Node, Property};

use tree::{CONFIGURATION, Changes, DOORBELL, RANGES, SMMU};

/// Hardware that accepts a bridge, or does not.
struct Judge {
    answer: Result<(), String>,
    asked: RefCell<Vec<Behind>>,
}

impl Judge {
    fn new(answer: Result<(), String>) -> Self {
        Self {
            answer,
            asked: RefCell::default(),
        }
    }
}

impl devices::Hardware for Judge {
    fn read(&self, _: u64) -> u32 {
        u32::MAX
    }

    fn take_over(&self, behind: &Behind) -> Result<(), String> {
        self.asked.borrow_mut().push(*behind);
        self.answer.clone()
    }

    fn take_over_usb(&self, usb: &Usb, _: Option<u64>) -> Result<bool, String> {
        panic!("{} was taken over", usb.path)
    }
}

fn range(start: u64, size: u64) -> Range {
    Range::with_size(start, size).expect("not empty")
}

fn behind() -> Behind {
    Behind {
        bridge: Bridge {
            configuration: range(CONFIGURATION, 0x1000_0000),
            window: range(0x1000_0000, 0x2eff_0000),
        },
        smmu: range(SMMU, 0x2_0000),
        doorbell: Some(DOORBELL),
    }
}

fn found(changes: &Changes, profile: DmaProfile, judge: &Judge) -> (Fdt<'static>, Devices) {
    let tree = Fdt::new(tree::virt(changes).leak()).expect("a device tree");
    let devices = devices::find(&tree, &[], profile, judge).expect("devices");
    (tree, devices)
}

fn mapped(devices: &Devices) -> Vec<(u64, u64)> {
    let list: Vec<Bank> = devices.allowed.iter().collect();
    list.iter().map(|it| (it.start, it.end - 1)).collect()
}

/// What is said of the bridge.
fn said(devices: &Devices) -> String {
    let lines = RefCell::new(Vec::new());
    devices.report(|line| lines.borrow_mut().push(line.to_string()));
    let lines = lines.into_inner();
    let about = lines
        .into_iter()
        .find(|it| it.contains("pcie@") || it.contains("of pci-host"));
    about.unwrap_or_default()
}

#[test]
fn bus_0_and_the_windows_are_mapped_behind_an_smmu() {
    let judge = Judge::new(Ok(()));
    let (_, devices) = found(&Changes::default(), DmaProfile::Strict, &judge);
    assert_eq!(
        devices.behind,
        Some(("/pcie@10000000".to_owned(), behind()))
    );
    assert_eq!(judge.asked.into_inner(), [behind()]);
    assert_eq!(
        mapped(&devices),
        [
            (0x800_0000, 0x800_ffff),
            (DOORBELL, DOORBELL + 0xfff),
            (0x1000_0000, 0x3eff_ffff),
            (CONFIGURATION, CONFIGURATION + 0xf_ffff),
            (0x80_0000_0000, 0xff_ffff_ffff),
        ]
    );
    assert_eq!(said(&devices), "");
}

#[test]
fn in_the_open_profile_the_smmu_stays_off() {
    let judge = Judge::new(Ok(()));
    let (_, devices) = found(&Changes::default(), DmaProfile::Open, &judge);
    assert_eq!(devices.behind, None);
    assert!(judge.asked.into_inner().is_empty());
    assert!(mapped(&devices).contains(&(CONFIGURATION, CONFIGURATION + 0xfff_ffff)));
    assert!(said(&devices).starts_with("open: 1 of pci-host-ecam-generic"));
}

#[test]
fn a_bridge_that_may_go_around_is_withheld_with_its_reason() {
    let why = |changes: Changes| {
        let judge = Judge::new(Ok(()));
        let (_, devices) = found(&changes, DmaProfile::Strict, &judge);
        assert_eq!(devices.behind, None);
        assert!(judge.asked.into_inner().is_empty());
        assert!(mapped(&devices).iter().all(|it| it.0 < 0x1000_0000));
        let said = said(&devices);
        let why = said.strip_prefix("withheld: /pcie@10000000 (pci-host-ecam-generic): ");
        why.expect("withheld").to_owned()
    };
    let other = |name, list: &[u32]| Changes {
        other: vec![(name, list.to_vec())],
        ..Changes::default()
    };
    let without = |name| Changes {
        missing: vec![name],
        ..Changes::default()
    };
    let numbers = "its SMMU does not see all functions under their own numbers";
    assert_eq!(
        why(without("iommu-map")),
        "no SMMU stands between it and memory"
    );
    assert_eq!(why(other("iommu-map", &[0, 4, 0, 0x1000])), numbers);
    assert_eq!(why(other("iommu-map", &[0, 4, 8, 0x1_0000])), numbers);
    assert_eq!(why(other("iommu-map-mask", &[0xff])), numbers);
    let two = [0, 4, 0, 0x100, 0x100, 4, 0x100, 0xff00];
    assert_eq!(why(other("iommu-map", &two)), "several SMMUs share it");
    let no_smmu = "what stands between it and memory is no SMMUv3 that is enabled";
    assert_eq!(why(other("iommu-map", &[0, 3, 0, 0x1_0000])), no_smmu);
    let disabled = Changes {
        disabled: true,
        ..Changes::default()
    };
    assert_eq!(why(disabled), no_smmu);
    let older = Changes {
        smmu: Some("arm,smmu-v2"),
        ..Changes::default()
    };
    assert_eq!(why(older), no_smmu);
    let unknown = other("iommu-map", &[0, 9, 0, 0x1_0000]);
    assert_eq!(why(unknown), "its SMMU is not in the device tree");
    assert_eq!(
        why(without("dma-coherent")),
        "its functions do not look into caches"
    );
    let mut moved = RANGES;
    moved[11] = 0x2000_0000;
    let no_window = "it has no window of 32-bit memory at its own address";
    assert_eq!(why(other("ranges", &moved)), no_window);
}

#[test]
fn what_the_hardware_shows_is_said() {
    let judge = Judge::new(Err("virtio balloon at 00:01.0".to_owned()));
    let (_, devices) = found(&Changes::default(), DmaProfile::Strict, &judge);
    assert_eq!(devices.behind, None);
    assert_eq!(
        said(&devices),
        "withheld: /pcie@10000000 (pci-host-ecam-generic): virtio balloon at 00:01.0"
    );
}

#[test]
fn without_a_frame_interrupts_come_by_wires() {
    let judge = Judge::new(Ok(()));
    let changes = Changes {
        missing: vec!["msi-map"],
        ..Changes::default()
    };
    let (_, devices) = found(&changes, DmaProfile::Strict, &judge);
    assert_eq!(devices.behind.expect("mapped").1.doorbell, None);
    // An ITS writes tables: its frame is none that raises an interrupt.
    let judge = Judge::new(Ok(()));
    let other = Changes {
        other: vec![("msi-map", vec![0, 4, 0, 0x1_0000])],
        ..Changes::default()
    };
    let (_, devices) = found(&other, DmaProfile::Strict, &judge);
    assert_eq!(devices.behind.expect("mapped").1.doorbell, None);
}

#[test]
fn linux_gets_bus_0_no_smmu_and_the_reserve() {
    let judge = Judge::new(Ok(()));
    let (tree, devices) = found(&Changes::default(), DmaProfile::Strict, &judge);
    let reserved = reserved::find(&tree, &[], &[], &devices).expect("reserved memory");
    let memory = Memory {
        withheld: &[range(0x7e00_0000, 0x200_0000)],
        reserve: Some(range(0x7b00_0000, 0x300_0000)),
        unused: &[],
        reserved: &reserved,
    };
    let amended = device_tree::amend(&tree, &memory, &devices, Conduit::Hvc).expect("a tree");
    let amended = Fdt::new(amended.leak()).expect("a device tree");
    let value = |path: &str, name: &str| {
        let node = amended.find_node(path).expect("a node");
        node.property(name).map(|it| it.value().to_vec())
    };
    assert_eq!(
        value("/smmuv3@9050000", "status"),
        Some(b"disabled\0".to_vec())
    );
    assert_eq!(value("/pcie@10000000", "status"), None);
    assert_eq!(value("/pcie@10000000", "bus-range"), Some(vec![0; 8]));
    let register = [CONFIGURATION.to_be_bytes(), 0x10_0000_u64.to_be_bytes()].concat();
    assert_eq!(value("/pcie@10000000", "reg"), Some(register));
    let reserve = "/reserved-memory/donjon-reserve@7b000000";
    assert_eq!(
        value(reserve, "compatible"),
        Some(b"donjon,reserve\0".to_vec())
    );
    // Linux maps it, or it could not hold tables.
    assert_eq!(value(reserve, "no-map"), None);
    assert!(value("/reserved-memory/donjon@7e000000", "no-map").is_some());
}
