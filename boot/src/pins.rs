// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pins of devices that Linux gets, where it does not get the controller of the pins: the boot
//! stage gives them the functions that the tree names, and Linux's tree names none.

extern crate alloc;

use core::fmt::Display;

use alloc::string::String;
use alloc::vec::Vec;

use donjon_core::devices::pins::{Chip, Registers, Setting};
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::model::DeviceTreeNode;
use dtoolkit::standard::NodeStandard;
use dtoolkit::{Node, Property};

/// A controller of pins that is withheld.
pub struct Controller {
    /// The controller's path in the tree.
    pub path: String,
    /// The chip that it is a part of.
    pub chip: Chip,
    /// Physical address of its registers.
    pub registers: u64,
}

/// What the pins of a controller are to be.
#[derive(Default)]
pub struct Pins {
    /// Settings in the order of the tree.
    pub settings: Vec<Setting>,
    /// Names of groups of pins that stay as the firmware left them: a function of the debug port is
    /// among theirs, or they are described in another way.
    left: Vec<String>,
}

/// The phandles of a device's state `default`, in which its driver finds the pins when it starts,
/// if that is the first one of the tree.
pub fn first_state(node: &FdtNode) -> Vec<u32> {
    let names = node.property("pinctrl-names");
    if names.is_none_or(|it| !it.value().starts_with(b"default\0")) {
        return Vec::new();
    }
    words(node, "pinctrl-0").unwrap_or_default()
}

/// What the groups of a controller's pins with these phandles say.
pub fn find(tree: &Fdt, controller: &Controller, phandles: &[u32]) -> Pins {
    let mut pins = Pins::default();
    for group in groups(tree, controller) {
        let phandle = group.phandle().ok().flatten();
        if phandle.is_none_or(|it| !phandles.contains(&it)) {
            continue;
        }
        match settings(&group, controller.chip) {
            Some(settings) => pins.settings.extend(settings),
            None => pins.left.push(String::from(group.name())),
        }
    }
    pins
}

impl Pins {
    /// Gives the pins their pull resistors and functions, and says what the debug port of the cores
    /// is led to.
    pub fn apply(&self, chip: Chip, registers: &mut impl Registers, line: impl Fn(&dyn Display)) {
        for setting in &self.settings {
            setting.apply(registers);
        }
        let set = self.settings.len();
        line(&format_args!("pins: {set} have the functions of the tree"));
        for name in &self.left {
            line(&format_args!("pins: {name} stay as the firmware left them"));
        }
        if let Some(pin) = chip.debug_port(&|offset| registers.read(offset)) {
            line(&format_args!(
                "pins: the firmware led the cores' debug port to GPIO {pin}: a cable there is a debugger"
            ));
        }
    }
}

/// Takes the states of pins away from each device of Linux's that has one of a controller's: there
/// is none for its driver to ask, and it would wait for one.
pub fn forget(tree: &Fdt, controller: &Controller, root: &mut DeviceTreeNode) {
    let groups = groups(tree, controller).filter_map(|it| it.phandle().ok().flatten());
    forget_below(root, &groups.collect::<Vec<_>>());
}

fn forget_below(node: &mut DeviceTreeNode, groups: &[u32]) {
    const PREFIX: &str = "pinctrl-";
    let names: Vec<String> = node
        .properties()
        .map(|it| String::from(it.name()))
        .filter(|it| it.starts_with(PREFIX))
        .collect();
    let is_one = |name: &String| {
        let value = node.property(name).map(|it| it.value().to_vec());
        // The names of the states are not among them.
        name.as_str() != "pinctrl-names"
            && cells(&value.unwrap_or_default()).any(|it| groups.contains(&it))
    };
    if names.iter().any(is_one) {
        for name in names {
            node.remove_property(&name);
        }
    }
    for child in node.children_mut() {
        forget_below(child, groups);
    }
}

/// The nodes below a controller.
fn groups<'a>(tree: &'a Fdt, controller: &Controller) -> impl Iterator<Item = FdtNode<'a>> {
    let node = tree.find_node(&controller.path);
    node.into_iter().flat_map(|it| it.children())
}

/// The pins of a group; none if one of them cannot be as the group says.
fn settings(group: &FdtNode, chip: Chip) -> Option<Vec<Setting>> {
    let (pins, functions) = (words(group, "brcm,pins")?, words(group, "brcm,function")?);
    let pulls = words(group, "brcm,pull").unwrap_or_default();
    // One value is that of all pins.
    let of = |list: &[u32], index: usize| match list {
        [value] => Some(*value),
        list => list.get(index).copied(),
    };
    let setting = |(index, pin): (usize, &u32)| {
        let pull = match pulls.is_empty() {
            true => None,
            false => Some(of(&pulls, index)?),
        };
        Setting::new(chip, *pin, of(&functions, index)?, pull)
    };
    pins.iter().enumerate().map(setting).collect()
}

fn words(node: &FdtNode, name: &str) -> Option<Vec<u32>> {
    Some(cells(node.property(name)?.value()).collect())
}

fn cells(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let cells = bytes.as_chunks::<4>().0;
    cells.iter().map(|it| u32::from_be_bytes(*it))
}
