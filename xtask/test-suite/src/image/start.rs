// SPDX-License-Identifier: MIT OR Apache-2.0
//! QEMU's Raspberry Pi 3 starts from the files of a card's image, with its device tree, its command
//! line and its root partition, and without an initramfs.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_card::command;
use donjon_card::command::arguments::{BuildArguments, CardArguments, FirmwareArguments};
use donjon_card::image::Image;
use donjon_card::rpi3;
use donjon_machine::arguments::{Dma, MachineArguments, Switch};
use donjon_machine::board::boot;
use donjon_machine::board::serial::Port;
use donjon_machine::board::session::{Session, Timeouts};
use donjon_machine::machine::Machine;
use donjon_machine::qemu::pty::OnPty;
use donjon_machine::tools::QEMU;

use crate::scratch::Scratch;

const TIMEOUT: Duration = Duration::from_secs(120);
const BAUD: u32 = 115_200;
/// What a card has to show.
const SHOW: &str = "nproc; grep ' / ' /proc/mounts; cat /sys/kernel/security/donjon/status";

/// The test.
pub fn test(host: &HostArguments) -> Result<()> {
    let scratch = Scratch::new()?;
    let card = command::card(&CardArguments {
        out: Some(scratch.path().join("card.img")),
        firmware: FirmwareArguments {
            firmware: Some(super::stand_in_firmware(&scratch)?),
        },
        build: BuildArguments {
            switch: Switch::Asid,
            dma: Dma::Strict,
            device_trees: None,
            host: host.clone(),
        },
    })?;
    let image = Image::read(&card)?;
    let file = |name: &str| {
        let path = scratch.path().join(name);
        fs::write(&path, image.file(name)?)?;
        anyhow::Ok(path)
    };
    let machine = Machine::new(&MachineArguments {
        machine: "raspi3b".into(),
        ..MachineArguments::virt(Switch::Asid)
    })?;
    let mut qemu = Command::new(QEMU);
    qemu.args(machine.qemu_arguments());
    qemu.arg("-kernel").arg(file(rpi3::KERNEL)?);
    // QEMU has the 3 B and not the 3 B+.
    qemu.arg("-dtb").arg(file(rpi3::TREE_B)?);
    qemu.args(["-append", image.command_line()?.trim()]);
    let drive = format!("if=sd,format=raw,snapshot=on,file={}", card.display());
    qemu.args(["-drive", &drive]);
    // The small UART is the second port.
    qemu.args(["-serial", "null", "-serial", "chardev:console"]);
    let guest = OnPty::with_command(qemu)?;
    let mut port = Port::open(guest.device(), BAUD)?;
    boot::wait(&mut port, TIMEOUT)?;
    let finished = Session::open(port, Timeouts::default())?.run(SHOW, TIMEOUT)?;
    let said = String::from_utf8(finished.output).context("no text")?;
    for expected in ["4\n", " / ext4 ", "state: running\n", "cpus: "] {
        ensure!(said.contains(expected), "no `{expected}` in:\n{said}");
    }
    Ok(())
}
