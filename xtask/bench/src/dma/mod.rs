// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench dma`: what transfers cost the CPU behind the SMMU that the inner domain owns,
//! and by a USB controller whose registers it writes.
//!
//! docs/dma.md says how to read the table.

pub mod peer;
mod report;

use std::time::Duration;

use anyhow::Result;
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::progress::Step;
use donjon_builder::run;
use donjon_machine::arguments::Switch;
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{DiskImage, Network, WAIT_FOR_USB_DISK, empty_disk};

use crate::arguments::DmaArguments;
use crate::{CPU, machine, measured, output_of};

use peer::Peer;
use report::Report;

/// Bytes of the disk, and of each transfer; the guest's program has the same number.
const BYTES: u64 = 64 << 20;
const TIMEOUT: Duration = Duration::from_secs(900);
/// Machine with a USB controller.
const WITH_USB: &str = "raspi3b";
/// The guest's address, and that of QEMU's router, behind which the host is.
const GUEST: &str = "10.0.2.15/24";
const HOST: &str = "10.0.2.2";

/// Measures, prints, and fails if the SMMU costs more than it may.
pub fn run(arguments: &DmaArguments) -> Result<()> {
    json::can_write(arguments.json.as_deref())?;
    environment::prepare(&arguments.host, Needs::default())?;
    let behind = machine(CPU, Switch::Asid, true)?;
    let around = behind.clone().without_smmu();
    let mut report = Report::default();
    for (machine, name) in [(behind, report::BEHIND), (around, report::AROUND)] {
        let text = measure(arguments, machine, name, &mut report.linux)?;
        report.add(name, &text)?;
    }
    for (switch, name) in [
        (Switch::None, report::NATIVE),
        (Switch::Asid, report::CHECKED),
    ] {
        report.add_usb(name, &measure_usb(arguments, switch, name)?)?;
    }
    println!("{report}");
    json::write(arguments.json.as_deref(), &report)?;
    report.check()
}

/// What a guest with a network card runs, whose peer is at `port` of this host.
pub fn command(option: &str, port: u16) -> String {
    format!(
        "ip link set eth0 up || exit 3\n\
         ip address show eth0 | grep -q {GUEST} || ip address add {GUEST} dev eth0 || exit 3\n\
         donjon-dma {option} /dev/vda {HOST}:{port}"
    )
}

/// What a guest with a disk behind USB prints.
fn measure_usb(arguments: &DmaArguments, switch: Switch, name: &str) -> Result<String> {
    let command = format!("{WAIT_FOR_USB_DISK}donjon-dma /dev/sda");
    let machine = Machine::new(&measured(WITH_USB, None, switch, true)?)?;
    let inner = InnerVariant::sound(switch);
    let mut parts = run::prepare(&arguments.host, machine, &inner)?;
    let disk = empty_disk(BYTES)?;
    parts.boot.usb_disk = Some(DiskImage::unchanged(disk.path().to_owned()));
    let step = Step::spinner(format!("measure USB, {name}"));
    let text = output_of(&parts.boot, &command, TIMEOUT)?;
    step.vanish();
    Ok(text)
}

/// What the guest prints on a machine.
fn measure(
    arguments: &DmaArguments,
    machine: Machine,
    name: &str,
    linux: &mut String,
) -> Result<String> {
    let inner = InnerVariant::sound(machine.switch);
    let mut parts = run::prepare(&arguments.host, machine, &inner)?;
    linux.clone_from(&parts.kernel.release);
    let disk = empty_disk(BYTES)?;
    parts.boot.disk = Some(DiskImage::unchanged(disk.path().to_owned()));
    parts.boot.network = Some(Network::Virtio);
    let peer = Peer::listen(BYTES)?;
    let command = command("", peer.port());
    let step = Step::spinner(format!("measure {name}"));
    let text = output_of(&parts.boot, &command, TIMEOUT)?;
    step.vanish();
    Ok(text)
}
