// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model's device tree, made to say what machine is started.

use anyhow::{Context, Result, anyhow, ensure};
use dtoolkit::fdt::Fdt;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::{Node, Property};

/// Where RAM begins.
pub const RAM: u64 = 0x8000_0000;

/// What the tree is to say.
pub struct Machine {
    /// CPUs of the first cluster.
    pub cpus: u32,
    /// Bytes of RAM.
    pub memory: u64,
    /// First byte of the initial ramdisk, and the one behind its last.
    pub ramdisk: (u64, u64),
    /// Kernel parameters.
    pub words: String,
}

/// Changes the tree of all of the model: RAM in one bank, CPUs that exist, and what a boot loader
/// adds.
///
/// # Errors
///
/// If `bytes` are no device tree of the model.
pub fn for_machine(bytes: &[u8], machine: &Machine) -> Result<Vec<u8>> {
    let found = Fdt::new(bytes).map_err(|error| anyhow!("reading the device tree: {error}"))?;
    let mut tree = DeviceTree::from_fdt(&found);
    ensure!(
        tree.root
            .property("compatible")
            .is_some_and(|it| it.value().starts_with(b"arm,fvp-base-revc\0")),
        "the device tree is none of the FVP Base RevC (arm,fvp-base-revc)"
    );
    let memory = tree
        .find_node_mut("/memory@80000000")
        .context("the device tree has no /memory@80000000")?;
    set(memory, "reg", words(&[RAM, machine.memory]));

    let cpus = tree
        .find_node_mut("/cpus")
        .context("the device tree has no /cpus")?;
    let absent: Vec<String> = cpus
        .children()
        .filter(|it| it.name().starts_with("cpu@") && !exists(it, machine.cpus))
        .map(|it| it.name().to_owned())
        .collect();
    for name in absent {
        cpus.remove_child(&name);
    }

    let chosen = tree
        .find_node_mut("/chosen")
        .context("the device tree has no /chosen with a console")?;
    set(
        chosen,
        "bootargs",
        [machine.words.as_bytes(), b"\0"].concat(),
    );
    set(chosen, "linux,initrd-start", words(&[machine.ramdisk.0]));
    set(chosen, "linux,initrd-end", words(&[machine.ramdisk.1]));
    Ok(tree.to_dtb())
}

/// Whether the model is started with this CPU: its number is in Aff1.
fn exists(node: &DeviceTreeNode, cpus: u32) -> bool {
    node.property("reg")
        .and_then(|it| <[u8; 8]>::try_from(it.value()).ok())
        .is_some_and(|it| u64::from_be_bytes(it) >> 8 < u64::from(cpus))
}

fn set(node: &mut DeviceTreeNode, name: &str, value: Vec<u8>) {
    node.add_property(DeviceTreeProperty::new_unchecked(name, value));
}

fn words(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|it| it.to_be_bytes()).collect()
}
