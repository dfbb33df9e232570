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
use donjon_builder::run::{self, Parts};
use donjon_figures::records::dma::Dma;
use donjon_machine::arguments::Switch;
use donjon_machine::qemu::{DiskImage, Network, WAIT_FOR_USB_DISK, empty_disk};

use crate::arguments::Output;
use crate::guest::{CPU, measured, prepare, said};
use crate::{Record, machine};

use peer::Peer;

/// Bytes of the disk, and of each transfer; the guest's program has the same number.
const BYTES: u64 = 64 << 20;
const TIMEOUT: Duration = Duration::from_secs(900);
/// Machine with a USB controller.
const WITH_USB: &str = "raspi3b";
/// The guest's address, and that of QEMU's router, behind which the host is.
const GUEST: &str = "10.0.2.15/24";
const HOST: &str = "10.0.2.2";

/// Measures, prints, and fails if the SMMU costs more than it may.
pub fn run(output: &Output) -> Result<()> {
    output.prepare()?;
    let host = &output.host;
    let behind = machine(CPU, Switch::Asid, true)?;
    let around = behind.clone().without_smmu();
    let mut record = Dma::default();
    for (machine, name) in [(behind, report::BEHIND), (around, report::AROUND)] {
        let inner = InnerVariant::sound(machine.switch);
        let parts = run::prepare(host, machine, &inner)?;
        record.linux.clone_from(&parts.kernel.release);
        report::add(&mut record, name, &measure(parts, name)?)?;
    }
    for (switch, name) in [
        (Switch::None, report::NATIVE),
        (Switch::Asid, report::CHECKED),
    ] {
        let parts = prepare(host, &measured(WITH_USB, None, switch, true)?)?;
        report::add_usb(&mut record, name, &measure_usb(parts, name)?)?;
    }
    output.show(&record)?;
    record.check()
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
fn measure_usb(mut parts: Parts, name: &str) -> Result<String> {
    let command = format!("{WAIT_FOR_USB_DISK}donjon-dma /dev/sda");
    let disk = empty_disk(BYTES)?;
    parts.boot.usb_disk = Some(DiskImage::unchanged(disk.path().to_owned()));
    said(
        &parts.boot,
        &format!("measure USB, {name}"),
        &command,
        TIMEOUT,
    )
}

/// What a guest with a disk and a network card prints.
fn measure(mut parts: Parts, name: &str) -> Result<String> {
    let disk = empty_disk(BYTES)?;
    parts.boot.disk = Some(DiskImage::unchanged(disk.path().to_owned()));
    parts.boot.network = Some(Network::Virtio);
    let peer = Peer::listen(BYTES)?;
    let command = command("", peer.port());
    said(&parts.boot, &format!("measure {name}"), &command, TIMEOUT)
}
