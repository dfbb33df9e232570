// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine whose CPUs the firmware keeps in a pen in memory, and which nothing can switch off.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::kernel::Variant;
use donjon_machine::arguments::Switch;
use donjon_machine::process::Running;
use donjon_machine::said::Said;
use donjon_machine::tools::QEMU;
use dtoolkit::memreserve::MemoryReservation;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

use super::super::boots::built;
use super::super::scratch::Scratch;
use super::{REFUSAL, machine};

/// QEMU's Raspberry Pi 3 by a device tree without its power controller, so that it is no board that
/// the inner domain knows: three CPUs wait in the firmware's pen at EL2 and poll a word of memory.
pub fn is_refused(host: &HostArguments) -> Result<()> {
    let sound = InnerVariant::sound(Switch::Asid);
    let parts = built(host, machine()?, &sound, Variant::Donjon)?;
    let scratch = Scratch::new()?;
    let path = scratch.path().join("pi.dtb");
    fs::write(&path, tree().to_dtb())?;
    let console = scratch.path().join("console");
    let mut qemu = Command::new(QEMU);
    qemu.args(["-M", "raspi3b", "-display", "none", "-monitor", "none"]);
    qemu.arg("-kernel").arg(&parts.boot.image);
    qemu.arg("-dtb").arg(&path);
    // The second one is the small UART.
    qemu.args(["-serial", "null", "-serial"])
        .arg(format!("file:{}", console.display()));
    let mut running = Running::start(qemu.stdin(Stdio::null()))?;
    let deadline = Instant::now() + REFUSAL;
    let mut text = String::new();
    while Instant::now() < deadline && !text.contains("PSCI\r\n") {
        thread::sleep(Duration::from_millis(200));
        text = fs::read_to_string(&console).unwrap_or_default();
    }
    // A boot stage that starts Linux all the same does it now.
    thread::sleep(Duration::from_secs(2));
    text = fs::read_to_string(&console).unwrap_or(text);
    running.child().kill()?;
    running.wait()?;
    let said = Said { text, status: 0 };
    super::is_refused(
        Ok(said),
        &["cannot start: CPU 0x0 is started by `spin-table` and not by PSCI"],
    )
}

fn tree() -> DeviceTree {
    let cells = |list: &[u32]| {
        list.iter()
            .flat_map(|it| it.to_be_bytes())
            .collect::<Vec<_>>()
    };
    let node = |name: &str, words: &[(&str, &str)], numbers: &[(&str, &[u32])]| {
        let mut node = DeviceTreeNode::new_unchecked(name);
        for (name, value) in words {
            node.add_property(DeviceTreeProperty::new_unchecked(*name, *value));
        }
        for (name, value) in numbers {
            node.add_property(DeviceTreeProperty::new_unchecked(*name, cells(value)));
        }
        node
    };
    const ONE_AND_ONE: [(&str, &[u32]); 2] = [("#address-cells", &[1]), ("#size-cells", &[1])];
    let mut tree = DeviceTree::new();
    tree.root = node("", &[("compatible", "brcm,bcm2837")], &ONE_AND_ONE);
    let pen = MemoryReservation::new(0, 0x1000);
    tree.memory_reservations.push(pen);
    let serial = [("serial1", "/soc/serial@7e215040")];
    tree.root.add_child(node("aliases", &serial, &[]));
    let chosen = [("stdout-path", "serial1:115200n8")];
    tree.root.add_child(node("chosen", &chosen, &[]));
    let memory = [("device_type", "memory")];
    let banks: [(&str, &[u32]); 1] = [("reg", &[0, 0x3b40_0000])];
    tree.root.add_child(node("memory@0", &memory, &banks));
    let numbered: [(&str, &[u32]); 2] = [("#address-cells", &[1]), ("#size-cells", &[0])];
    let mut cpus = node("cpus", &[], &numbered);
    for cpu in 0..4 {
        let words = [("device_type", "cpu"), ("enable-method", "spin-table")];
        let numbers: [(&str, &[u32]); 2] =
            [("reg", &[cpu]), ("cpu-release-addr", &[0, 0xd8 + 8 * cpu])];
        cpus.add_child(node(&format!("cpu@{cpu}"), &words, &numbers));
    }
    tree.root.add_child(cpus);
    let mut soc = node("soc", &[("compatible", "simple-bus")], &ONE_AND_ONE);
    let window = cells(&[0x7e00_0000, 0x3f00_0000, 0x100_0000]);
    soc.add_property(DeviceTreeProperty::new_unchecked("ranges", window));
    let uart = [("compatible", "brcm,bcm2835-aux-uart")];
    let registers: [(&str, &[u32]); 1] = [("reg", &[0x7e21_5040, 0x40])];
    soc.add_child(node("serial@7e215040", &uart, &registers));
    tree.root.add_child(soc);
    tree
}
