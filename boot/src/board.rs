// SPDX-License-Identifier: MIT OR Apache-2.0
//! What boards without PSCI need: the controller of power, PSCI in the tree for Linux, and clocks
//! in place of a controller that Linux does not get.

extern crate alloc;

use alloc::format;
use alloc::vec::Vec;

use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::standard::NodeStandard;
use dtoolkit::{Node, Property};

use crate::nodes;

/// The controllers that reset a Raspberry Pi, of model 3 and 4, and switch it off.
const POWER: [&str; 2] = ["brcm,bcm2835-pm", "brcm,bcm2711-pm"];

/// A controller of clocks that is withheld, and the clocks of it that devices of Linux's have: the
/// number, and the rate in Hz that the firmware has set. Each controller has one cell.
struct Clocks {
    compatible: &'static str,
    rates: &'static [(u32, u32)],
}

/// Clocks of the Raspberry Pi 3 and 4, with `enable_uart=1` in `config.txt`: PL011, core, SD card,
/// thermometer; on the 4 its second controller of SD cards.
const CLOCKS: &[Clocks] = &[
    Clocks {
        compatible: "brcm,bcm2835-cprman",
        rates: &[
            (19, 48_000_000),
            (20, 250_000_000),
            (28, 200_000_000),
            (27, 1_920_000),
        ],
    },
    Clocks {
        compatible: "brcm,bcm2711-cprman",
        rates: &[
            (19, 48_000_000),
            (20, 250_000_000),
            (28, 250_000_000),
            (51, 100_000_000),
        ],
    },
];

/// Physical address of the registers that switch the machine off, where the inner domain can drive
/// them.
pub fn power(tree: &Fdt) -> Option<u64> {
    let root = tree.root();
    let path = POWER
        .iter()
        .find_map(|name| nodes::find_compatible(&root, "", name))?;
    nodes::first_register(tree, &path)
}

/// Says that PSCI starts every CPU. An HVC that Linux makes by itself, while it boots, is answered
/// by the page that stays at EL2; an SMC might have no answer at all.
pub fn name_psci(model: &mut DeviceTree) {
    let mut node = DeviceTreeNode::new_unchecked("psci");
    for (name, value) in [("compatible", "arm,psci-1.0"), ("method", "hvc")] {
        node.add_property(DeviceTreeProperty::new_unchecked(name, value));
    }
    model.root.add_child(node);
    let Some(cpus) = model.root.child_mut("cpus") else {
        return;
    };
    cpus.remove_property("enable-method");
    for cpu in cpus.children_mut() {
        if cpu.remove_property("cpu-release-addr").is_some() {
            cpu.add_property(DeviceTreeProperty::new_unchecked("enable-method", "psci"));
        }
    }
}

/// Gives the devices that have a clock of a withheld controller one of a fixed rate.
pub fn replace_clocks(tree: &Fdt, model: &mut DeviceTree) {
    for clocks in CLOCKS {
        let Some(path) = nodes::find_compatible(&tree.root(), "", clocks.compatible) else {
            continue;
        };
        let controller = tree.find_node(&path);
        let Some(controller) = controller.and_then(|it| it.phandle().ok()?) else {
            continue;
        };
        let first = highest_phandle(&tree.root()) + 1;
        let fixed = |clock: u32| {
            let index = clocks.rates.iter().position(|it| it.0 == clock)?;
            Some(first + index as u32)
        };
        let providers = providers(&tree.root());
        rewrite(&mut model.root, controller, &fixed, &providers);
        for (phandle, (number, rate)) in (first..).zip(clocks.rates) {
            let mut node = DeviceTreeNode::new_unchecked(format!("donjon-clock-{number}"));
            node.add_property(DeviceTreeProperty::new_unchecked(
                "compatible",
                "fixed-clock",
            ));
            for (name, value) in [
                ("#clock-cells", 0),
                ("clock-frequency", *rate),
                ("phandle", phandle),
            ] {
                node.add_property(DeviceTreeProperty::new_unchecked(name, value));
            }
            model.root.add_child(node);
        }
    }
}

/// Replaces each clock of the controller in `clocks` of a node and of those below it.
fn rewrite(
    node: &mut DeviceTreeNode,
    controller: u32,
    fixed: &impl Fn(u32) -> Option<u32>,
    providers: &[(u32, u32)],
) {
    let old = node.property("clocks").map(|it| it.value().to_vec());
    if let Some(new) = old.and_then(|it| replaced(&cells(&it), controller, fixed, providers)) {
        let bytes: Vec<u8> = new.iter().flat_map(|it| it.to_be_bytes()).collect();
        node.add_property(DeviceTreeProperty::new_unchecked("clocks", bytes));
    }
    for child in node.children_mut() {
        rewrite(child, controller, fixed, providers);
    }
}

/// The list of clocks with those of the controller replaced; none if it stays as it is: a clock is
/// unknown, or none is the controller's.
fn replaced(
    list: &[u32],
    controller: u32,
    fixed: &impl Fn(u32) -> Option<u32>,
    providers: &[(u32, u32)],
) -> Option<Vec<u32>> {
    let mut new = Vec::new();
    let mut rest = list;
    while let Some((phandle, after)) = rest.split_first() {
        let (_, count) = providers.iter().find(|it| it.0 == *phandle)?;
        let (arguments, after) = after.split_at_checked(*count as usize)?;
        if *phandle == controller {
            new.push(fixed(*arguments.first()?)?);
        } else {
            new.push(*phandle);
            new.extend(arguments);
        }
        rest = after;
    }
    (new != list).then_some(new)
}

/// Each node that provides clocks: its phandle and how many cells name one of its clocks.
fn providers(node: &FdtNode) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let cells = node.property("#clock-cells");
    let cells = cells.and_then(|it| it.value_as::<u32>().ok());
    if let (Some(cells), Ok(Some(phandle))) = (cells, node.phandle()) {
        found.push((phandle, cells));
    }
    for child in node.children() {
        found.extend(providers(&child));
    }
    found
}

fn highest_phandle(node: &FdtNode) -> u32 {
    let own = node.phandle().ok().flatten().unwrap_or(0);
    let below = node.children().map(|it| highest_phandle(&it)).max();
    own.max(below.unwrap_or(0))
}

fn cells(bytes: &[u8]) -> Vec<u32> {
    let cells = bytes.as_chunks::<4>().0;
    cells.iter().map(|it| u32::from_be_bytes(*it)).collect()
}
