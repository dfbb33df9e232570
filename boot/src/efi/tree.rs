// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device tree with what a loader would have written: RAM, initial ramdisk, command line.

extern crate alloc;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use donjon_core::range::Range;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::standard::NodeStandard;
use dtoolkit::{Node, Property};

use super::failure::EfiFailure;
use crate::failure::Failure;
use crate::secrets::SEED_IS_PUBLIC;

/// What is written.
pub struct Loaded {
    /// The firmware's tree.
    tree: Fdt<'static>,
    /// The command line; without one, the tree's stays.
    command_line: Option<String>,
    /// The initial ramdisk; without one, the tree's stays.
    pub ramdisk: Option<Range>,
}

impl Loaded {
    /// What the loader gave. `options` are in UTF-16, with or without a zero at the end; empty
    /// ones are none.
    ///
    /// # Errors
    ///
    /// If they are no text.
    pub fn new(
        tree: Fdt<'static>,
        options: Option<&[u16]>,
        ramdisk: Option<Range>,
    ) -> Result<Self, EfiFailure> {
        let options = options.unwrap_or_default();
        let text = options.split(|it| *it == 0).next().unwrap_or_default();
        let text = String::from_utf16(text).map_err(|_| EfiFailure::CommandLine)?;
        let text = text.trim();
        Ok(Self {
            tree,
            command_line: (!text.is_empty()).then(|| String::from(text)),
            ramdisk,
        })
    }

    /// Whether the command line asks for a ramdisk that the loader does not bring.
    pub fn misses_ramdisk(&self) -> bool {
        let wanted = self.command_line.as_deref().unwrap_or_default();
        self.ramdisk.is_none()
            && wanted
                .split_whitespace()
                .any(|it| it.starts_with("initrd="))
    }

    /// The tree, with these banks of RAM in place of those that it names.
    ///
    /// # Errors
    ///
    /// If it cannot name a bank.
    pub fn write(&self, banks: &[Range]) -> Result<Vec<u8>, EfiFailure> {
        let mut model = DeviceTree::from_fdt(&self.tree);
        self.choose(&mut model);
        let memory: Vec<String> = self
            .tree
            .root()
            .children()
            .filter(is_memory)
            .map(name)
            .collect();
        for name in memory {
            model.root.remove_child(&name);
        }
        let root = self.tree.root();
        let address_cells = root.address_cells().map_err(Failure::from)?;
        let size_cells = root.size_cells().map_err(Failure::from)?;
        let mut register = Vec::new();
        for bank in banks {
            for (value, cells) in [(bank.start(), address_cells), (bank.size(), size_cells)] {
                match (cells, u32::try_from(value)) {
                    (1, Ok(value)) => register.extend(value.to_be_bytes()),
                    (2, _) => register.extend(value.to_be_bytes()),
                    _ => return Err(EfiFailure::Cells(bank.start())),
                }
            }
        }
        let first = banks.first().map_or(0, |it| it.start());
        let mut node = DeviceTreeNode::new_unchecked(format!("memory@{first:x}"));
        node.add_property(DeviceTreeProperty::new_unchecked("device_type", "memory"));
        node.add_property(DeviceTreeProperty::new_unchecked("reg", register));
        model.root.add_child(node);
        Ok(model.to_dtb())
    }

    /// Writes `/chosen`.
    fn choose(&self, model: &mut DeviceTree) {
        if model.root.child_mut("chosen").is_none() {
            model
                .root
                .add_child(DeviceTreeNode::new_unchecked("chosen"));
        }
        let Some(chosen) = model.root.child_mut("chosen") else {
            return;
        };
        let mut add = |name, value: &[u8]| {
            chosen.add_property(DeviceTreeProperty::new_unchecked(name, value.to_vec()));
        };
        // The firmware keeps its own tree, where Linux finds the seed.
        add(SEED_IS_PUBLIC, &[]);
        if let Some(text) = &self.command_line {
            add("bootargs", &[text.as_bytes(), &[0]].concat());
        }
        if let Some(ramdisk) = self.ramdisk {
            add("linux,initrd-start", &ramdisk.start().to_be_bytes());
            add("linux,initrd-end", &ramdisk.end().to_be_bytes());
        }
    }
}

fn is_memory(node: &FdtNode<'_>) -> bool {
    node.property("device_type")
        .is_some_and(|it| it.value() == b"memory\0")
}

fn name(node: FdtNode<'_>) -> String {
    String::from(node.name())
}
