// SPDX-License-Identifier: MIT OR Apache-2.0
//! The USB controller of a Raspberry Pi, according to the device tree.

extern crate alloc;

use alloc::borrow::Cow;
use alloc::string::String;

use donjon_abi::layout::PAGE_SIZE;
use donjon_core::devices::Window;
use donjon_core::dma::usb::registers;
use donjon_core::range::Range;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::model::{DeviceTree, DeviceTreeProperty};
use dtoolkit::{Node, Property};

/// A USB controller whose registers the inner domain writes for Linux.
pub struct Usb {
    /// The path of its node.
    pub path: String,
    /// The page of its registers.
    pub registers: Range,
    /// Windows to its FIFOs, which stay withheld, if there are any.
    pub fifos: Option<Range>,
    /// Where memory is on its bus.
    pub bus: Window,
    /// Whether firmware had left a channel on.
    pub had_channels_on: bool,
}

const _: () = assert!(registers::SIZE == PAGE_SIZE);

/// Looks at a controller's node at `path`, with its registers as a CPU sees them.
///
/// # Errors
///
/// Why it cannot be told what the controller would reach.
pub fn find(
    tree: &Fdt,
    node: &FdtNode,
    path: &str,
    registers: &[Range],
) -> Result<Usb, Cow<'static, str>> {
    let role = node.property("dr_mode");
    if role.is_none_or(|it| it.value() != b"host\0") {
        return Err("it is no host alone, but a device as well".into());
    }
    let first = registers.first();
    let first = first.filter(|it| it.start().is_multiple_of(PAGE_SIZE) && it.size() >= PAGE_SIZE);
    let first = first.ok_or("it has no page of registers")?;
    let page = Range::with_size(first.start(), PAGE_SIZE).unwrap_or(*first);
    Ok(Usb {
        path: String::from(path),
        registers: page,
        fifos: Range::new(page.end(), first.end()),
        had_channels_on: false,
        bus: bus(tree, path).ok_or("the device tree does not say where memory is on its bus")?,
    })
}

/// Where memory is on the bus of the node at `path`, a child of the root's: what its one window
/// says.
fn bus(tree: &Fdt, path: &str) -> Option<Window> {
    let (parent, _) = path.rsplit_once('/')?;
    if !parent.rsplit_once('/')?.0.is_empty() {
        return None;
    }
    let mut windows = tree.find_node(parent)?.dma_ranges().ok()??;
    let window = windows.next()?;
    let bus = Window {
        child: window.child_bus_address().ok()?,
        parent: window.parent_bus_address().ok()?,
        size: window.length().ok()?,
    };
    // The controller has 32 bits of an address.
    let end = bus.child.checked_add(bus.size)?;
    (windows.next().is_none() && end <= 1 << 32).then_some(bus)
}

/// Tells Linux that it only reads the registers. The controller has power: to switch that on or off
/// would make the VideoCore's firmware act, and the inner domain does not ask it for such things.
pub fn tell_linux(tree: &mut DeviceTree, usb: &Usb) {
    if let Some(node) = tree.find_node_mut(&usb.path) {
        node.remove_property("power-domains");
        node.add_property(DeviceTreeProperty::new_unchecked(
            "donjon,checked",
            [0_u8; 0],
        ));
    }
}
