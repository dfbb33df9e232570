// SPDX-License-Identifier: MIT OR Apache-2.0
//! Machines by another device tree: those that the inner domain cannot own are refused in plain
//! words, and what a tree sets aside is not Linux's.

pub mod board;
mod firmware;
mod gicv3;
mod raspberry_pi;
mod uefi;

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::kernel::Variant;
use donjon_machine::arguments::{Dma, MachineArguments, Switch};
use donjon_machine::finding::Finding;
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{Boot, tree};
use donjon_machine::said::{Said, says, whatever_became};
use dtoolkit::fdt::Fdt;
use dtoolkit::memreserve::MemoryReservation;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

use super::boots::{CHECK, built};
use super::scratch::Scratch;
use super::test::Test;

pub use board::newer;

const TIMEOUT: Duration = Duration::from_secs(120);
/// For a machine that stops without a word because it has nothing that switches it off.
const REFUSAL: Duration = Duration::from_secs(30);

/// Pages that the edited tree sets aside: in its header, by a node for firmware, and by one that
/// says nothing but where. The first is a page in part.
const HEADER: u64 = 0x4c00_0000;
const NO_MAP: u64 = 0x4c20_0000;
const PLAIN: u64 = 0x4c40_1000;
/// Where QEMU puts the initial ramdisk and, behind it, the device tree. Loaders reserve them.
const LOADED: (u64, u64) = (0x4800_0000, 0x200_0000);

pub(super) type Edit = fn(&mut DeviceTree);

/// What the hostile module tries with each of some values, and how it ends.
struct Case {
    name: &'static str,
    machine: fn() -> Result<Machine>,
    weakened: &'static [&'static str],
    attempt: &'static str,
    edit: Option<Edit>,
    values: &'static [u64],
    outcome: &'static str,
    /// What the case holds.
    holds: &'static [&'static str],
}

const RESERVED: Case = Case {
    name: "reserved",
    machine,
    weakened: &[],
    attempt: "map-protected-memory/reserved",
    edit: Some(reserve),
    values: &[HEADER, NO_MAP, PLAIN],
    outcome: "stopped, refused: permissions do not suit the frame",
    holds: &["I3"],
};
const DEVICES: Case = Case {
    name: "devices",
    machine,
    weakened: &[],
    attempt: "map-protected-memory/device",
    edit: None,
    values: &WITHHELD,
    outcome: "stopped, refused: neither memory nor an allowed device",
    holds: &["I15"],
};
const CASES: &[Case] = &[
    RESERVED,
    Case {
        name: "reserved:control",
        weakened: &["weaken-reserved"],
        outcome: "SUCCEEDED, mapped, and a store through it went through",
        ..RESERVED
    },
    DEVICES,
    Case {
        name: "devices:control",
        weakened: &["weaken-devices"],
        outcome: "SUCCEEDED, its registers are mapped",
        ..DEVICES
    },
    Case {
        name: "devices:allowed",
        values: &ALLOWED,
        outcome: "SUCCEEDED, its registers are mapped",
        ..DEVICES
    },
    Case {
        name: "devices:open",
        machine: in_open,
        values: &WITH_DMA,
        outcome: "SUCCEEDED, its registers are mapped",
        ..DEVICES
    },
    BOARD_DEVICES,
    Case {
        name: "raspi3b:devices:control",
        weakened: &["weaken-devices"],
        outcome: "SUCCEEDED, its registers are mapped",
        ..BOARD_DEVICES
    },
    BOARD_PINS,
    Case {
        name: "raspi3b:pins:control",
        machine: board::machine_with_dma,
        outcome: "SUCCEEDED, pins have the functions of the debug port",
        ..BOARD_PINS
    },
    BOARD_MAILBOX,
    Case {
        name: "raspi3b:mailbox:control",
        machine: board::machine_with_dma,
        outcome: "SUCCEEDED, the VideoCore wrote into a table",
        ..BOARD_MAILBOX
    },
    BOARD_TAGS,
    Case {
        name: "raspi3b:short-tag",
        attempt: "ask-videocore/short-tag",
        values: &[0],
        ..BOARD_TAGS
    },
    Case {
        name: "raspi3b:tags:control",
        weakened: &["weaken-properties"],
        outcome: "SUCCEEDED, the VideoCore has it, and says 0x80000000",
        ..BOARD_TAGS
    },
    BOARD_RELEASE,
    Case {
        name: "raspi3b:release-address:empty-pen",
        weakened: &["weaken-reserved"],
        outcome: "stopped, stored, and no CPU came",
        ..BOARD_RELEASE
    },
    Case {
        name: "raspi3b:release-address:control",
        weakened: &["weaken-reserved"],
        edit: Some(|tree| {
            if let Some(cpus) = tree.find_node_mut("/cpus") {
                cpus.remove_child("cpu@3");
            }
        }),
        outcome: "SUCCEEDED, a CPU runs the attacker's code at EL2",
        ..BOARD_RELEASE
    },
];

/// Devices of the Raspberry Pi 3: DMA, the page of mailbox and interrupt controller, watchdog,
/// clocks, pins, USB.
const BOARD_DEVICES: Case = Case {
    name: "raspi3b:devices",
    machine: board::machine,
    values: &[
        0x3f00_7000,
        0x3f00_b000,
        0x3f10_0000,
        0x3f10_1000,
        PINS,
        0x3f98_0000,
    ],
    ..DEVICES
};
/// Pins of the Raspberry Pi 3.
const PINS: u64 = 0x3f20_0000;
/// The functions of pins, among them the cores' debug port, which pull resistors in the same page
/// drive. In the DMA profile that is open they are Linux's.
const BOARD_PINS: Case = Case {
    name: "raspi3b:pins",
    machine: board::machine,
    attempt: "reach-debug-port/select",
    values: &[PINS],
    ..DEVICES
};
/// The registers of the mailbox. Where Linux has them, in the DMA profile that is open, the
/// firmware writes its answer to any memory.
const BOARD_MAILBOX: Case = Case {
    name: "raspi3b:mailbox",
    machine: board::machine,
    attempt: "ask-videocore/mailbox",
    values: &[0x3f00_b880],
    ..DEVICES
};
/// Tags by which the firmware runs code, gives memory, drives the display and switches power.
const BOARD_TAGS: Case = Case {
    name: "raspi3b:tags",
    machine: board::machine,
    attempt: "ask-videocore/tag",
    values: &[0x3_0010, 0x3_000c, 0x4_0001, 0x2_8001],
    outcome: "stopped, refused: property not on the list",
    ..DEVICES
};
/// The word that the firmware's pen polls for CPU 3. The boot stage takes all CPUs of the tree out
/// of the pen, and sets its page aside; one that the tree does not name stays.
const BOARD_RELEASE: Case = Case {
    name: "raspi3b:release-address",
    machine: board::machine,
    attempt: "map-protected-memory/release-address",
    values: &[0xf0],
    outcome: RESERVED.outcome,
    holds: &["I3", "I11"],
    ..DEVICES
};

/// Devices of QEMU's `virt`: flash, fw_cfg, both pages of the SMMU, the first of virtio over MMIO,
/// the configuration space of the second PCI bus, and an address that no node names.
const WITHHELD: [u64; 7] = [
    0x400_0000,
    0x902_0000,
    0x905_0000,
    0x906_0000,
    0xa00_0000,
    0x40_1010_0000,
    0x90a_0000,
];
/// PCI's window and its configuration space, and the first of virtio over MMIO.
const WITH_DMA: [u64; 3] = [0x1000_0000, 0x40_1000_0000, 0xa00_0000];
/// The clock, PCI's window and the configuration space of the first bus, which Linux has.
const ALLOWED: [u64; 3] = [0x901_0000, 0x1000_0000, 0x40_1000_0000];

/// Tests of machines that are refused, and of those that boot.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let refused: [(&str, Edit, &[&str]); 2] = [
        (
            "spin-table",
            |tree| set(tree, "/cpus/cpu@1", "enable-method", "spin-table"),
            &["cannot start: CPU 0x1 is started by `spin-table` and not by PSCI"],
        ),
        (
            "no-method",
            |tree| remove(tree, "/cpus/cpu@1", "enable-method"),
            &["does not say how CPU 0x1 is started"],
        ),
    ];
    let mut tests = Vec::new();
    for (name, edit, words) in refused {
        let host = host.clone();
        tests.push(Test::beside(
            &format!("machine:{name}:refused"),
            move || {
                let said = said_by(&host, &machine()?, &[], Some(edit), CHECK, REFUSAL);
                is_refused(said, words)
            },
        ));
    }
    let unknown = host.clone();
    tests.push(Test::beside("machine:pen:refused", move || {
        raspberry_pi::is_refused(&unknown)
    }));
    // What starts CPUs in another way than the inner domain knows is refused.
    tests = tests.into_iter().map(|it| it.holds(&["I11"])).collect();
    tests.extend(board::tests(host));
    tests.extend(gicv3::tests(host));
    tests.extend(uefi::tests(host));
    tests.extend(firmware::tests(host));
    for case in CASES.iter().chain(gicv3::CASES) {
        let host = host.clone();
        let test = Test::beside(&format!("machine:{}", case.name), move || {
            let mut said = attacked(&host, case);
            if case.outcome.starts_with("stopped") {
                said = Said::of_sound(said);
            }
            let said = said?;
            said.expect_success()?;
            let text = said.text;
            for value in case.values {
                let line = format!("{value:#x}: attack {}: {}", case.attempt, case.outcome);
                ensure!(text.contains(&line), "no line `{line}`:\n{text}");
            }
            Ok(())
        });
        tests.push(test.holds(case.holds));
    }
    tests
}

fn arguments() -> MachineArguments {
    MachineArguments {
        cpus: Some(2),
        memory: Some("256M".into()),
        ..MachineArguments::virt(Switch::Asid)
    }
}

fn machine() -> Result<Machine> {
    Machine::new(&arguments())
}

/// The machine in the DMA profile that is open.
fn in_open() -> Result<Machine> {
    Machine::new(&MachineArguments {
        dma: Some(Dma::Open),
        ..arguments()
    })
}

/// What the hostile module says of each page.
fn attacked(host: &HostArguments, case: &Case) -> Result<Said> {
    let attempt = case.attempt;
    let values: Vec<_> = case.values.iter().map(|it| format!("{it:#x}")).collect();
    let script = format!(
        "insmod /lib/modules/donjon_attack.ko || exit 3
        cd /sys/module/donjon_attack/parameters
        for value in {}; do
            echo $value >value
            dmesg -c >/dev/null
            echo {attempt} >run
            echo $value: $(dmesg | grep -o 'attack {attempt}: .*')
            echo 1 >undo
        done",
        values.join(" ")
    );
    said_by(
        host,
        &(case.machine)()?,
        case.weakened,
        case.edit,
        &script,
        TIMEOUT,
    )
}

fn reserve(tree: &mut DeviceTree) {
    for (start, size) in [(HEADER + 0x10, 0x20), LOADED] {
        let in_header = MemoryReservation::new(start, size);
        tree.memory_reservations.push(in_header);
    }
    let mut reserved = DeviceTreeNode::new_unchecked("reserved-memory");
    reserved.add_property(DeviceTreeProperty::new_unchecked("#address-cells", 2u32));
    reserved.add_property(DeviceTreeProperty::new_unchecked("#size-cells", 2u32));
    reserved.add_property(DeviceTreeProperty::new_unchecked("ranges", [0u8; 0]));
    for (name, page, no_map) in [("monitor", NO_MAP, true), ("pen", PLAIN, false)] {
        let mut node = DeviceTreeNode::new_unchecked(format!("{name}@{page:x}"));
        let register = [page, 0x1000].map(u64::to_be_bytes).concat();
        node.add_property(DeviceTreeProperty::new_unchecked("reg", register));
        if no_map {
            node.add_property(DeviceTreeProperty::new_unchecked("no-map", [0u8; 0]));
        }
        reserved.add_child(node);
    }
    tree.root.add_child(reserved);
}

fn set(tree: &mut DeviceTree, path: &str, name: &str, value: &str) {
    if let Some(node) = tree.find_node_mut(path) {
        node.add_property(DeviceTreeProperty::new_unchecked(name, value));
    }
}

fn remove(tree: &mut DeviceTree, path: &str, name: &str) {
    if let Some(node) = tree.find_node_mut(path) {
        node.remove_property(name);
    }
}

fn is_refused(said: Result<Said>, words: &[&str]) -> Result<()> {
    let text = whatever_became(&said);
    if text.contains("Linux version") {
        let text = format!("Linux started:\n{text}");
        return Err(Finding::Violation.error(text));
    }
    for word in words {
        ensure!(text.contains(word), "nothing said `{word}`:\n{text}");
    }
    Ok(())
}

/// Boots `machine`, with its device tree changed, over a build without some protections.
fn said_by(
    host: &HostArguments,
    machine: &Machine,
    weakened: &[&str],
    edit: Option<Edit>,
    command: &str,
    timeout: Duration,
) -> Result<Said> {
    let inner = InnerVariant::without(machine.switch, weakened);
    let mut parts = built(host, machine.clone(), &inner, Variant::Donjon)?;
    donjon_attack::arm(&mut parts)?;
    let scratch = Scratch::new()?;
    if let Some(edit) = edit {
        change_tree(&mut parts.boot, &scratch, edit)?;
    }
    says(&parts.boot, command, timeout)
}

/// Lets `boot` have QEMU's device tree with a change.
pub(super) fn change_tree(boot: &mut Boot, scratch: &Scratch, edit: Edit) -> Result<()> {
    let bytes = tree::of(boot)?;
    let found = Fdt::new(&bytes).map_err(|it| anyhow::anyhow!("QEMU's device tree: {it}"))?;
    let mut model = DeviceTree::from_fdt(&found);
    edit(&mut model);
    let path = scratch.path().join("edited.dtb");
    fs::write(&path, model.to_dtb()).context("writing the device tree")?;
    boot.device_tree = Some(path);
    Ok(())
}
