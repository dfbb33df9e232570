// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs QEMU: on the terminal, or unattended with one command in the guest.

mod answer;
pub(crate) mod console;
mod exec;
mod frames;
mod grub;
mod interactive;
pub mod monitor;
pub mod pty;
pub mod scratch;
pub mod tree;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use tempfile::NamedTempFile;

use crate::machine::{Channel, Disk, Machine, Serial};
use crate::tools::QEMU;

pub use exec::{Live, Stream, Timeout, exec, exec_live, exec_watched, kept_consoles};
pub use interactive::{SOURCES, Symbols, interactive};

/// What QEMU starts.
#[derive(Clone, Debug)]
pub struct Boot {
    /// The machine.
    pub machine: Machine,
    /// Boot image, or the kernel itself.
    pub image: PathBuf,
    /// The initramfs without a command.
    pub initramfs: Vec<u8>,
    /// GRUB as a UEFI program, which starts the boot image from a disk of its own.
    pub grub: Option<PathBuf>,
    /// A disk.
    pub disk: Option<DiskImage>,
    /// Whether that disk has the root directory. Otherwise the initramfs is all there is.
    pub disk_is_root: bool,
    /// A disk behind USB.
    pub usb_disk: Option<DiskImage>,
    /// A second disk, of virtio, from which packages are installed.
    pub packages: Option<PathBuf>,
    /// A network card, behind which QEMU plays a router.
    pub network: Option<Network>,
    /// More devices, as QEMU's `-device` has them. Only the test command sets them.
    pub devices: Vec<String>,
    /// A device tree in place of the one that QEMU makes.
    pub device_tree: Option<PathBuf>,
    /// Where an inner domain that writes down its steps leaves them. Only the test command sets
    /// it: semihosting lets a guest use files of the host.
    pub trace: Option<PathBuf>,
}

/// A network card of virtio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Attached as all virtio devices of the machine are.
    Virtio,
    /// A PCI function that no SMMU is between, in the DMA profile that is open.
    AroundSmmu,
}

/// The image of a disk.
#[derive(Clone, Debug)]
pub struct DiskImage {
    /// The file.
    pub file: PathBuf,
    /// Whether what the guest writes to it stays there. Otherwise it is dropped at the end.
    pub keep: bool,
    /// Requests that the disk answers in a second, if there is a limit.
    pub requests_per_second: Option<u32>,
}

impl DiskImage {
    /// A disk that answers as fast as it can.
    #[must_use]
    pub const fn new(file: PathBuf, keep: bool) -> Self {
        Self {
            file,
            keep,
            requests_per_second: None,
        }
    }

    /// A disk that stays as it is, whatever the guest writes.
    #[must_use]
    pub const fn unchanged(file: PathBuf) -> Self {
        Self::new(file, false)
    }
}

/// Shell script that waits until Linux has found the disk behind USB, and exits with status 3 if it
/// does not.
pub const WAIT_FOR_USB_DISK: &str = "\
found() { for it in $(seq 300); do [ -b /dev/sda ] && return; usleep 100000; done; exit 3; }
found
";

/// Makes the image of a disk that has `bytes` zeros. It is removed when it is dropped.
///
/// # Errors
///
/// If there is no room for it.
pub fn empty_disk(bytes: u64) -> Result<NamedTempFile> {
    let disk = NamedTempFile::new().context("making a disk")?;
    disk.as_file().set_len(bytes).context("making a disk")?;
    Ok(disk)
}

impl Boot {
    fn command(&self, initrd: &Path, kernel_words: &str) -> Result<Command> {
        let console = &self.machine.recipe.console;
        let mut words = format!("console={console} {kernel_words}");
        if let Channel::Serial(device) = &self.machine.recipe.channel {
            words.push_str(&format!(" donjon.channel={device}"));
        }
        if self.disk_is_root {
            words.push_str(&format!(" donjon.root={}", self.machine.disk()?.name()));
        }
        if let Some(more) = &self.machine.append {
            words.push(' ');
            words.push_str(more);
        }
        let mut command = Command::new(QEMU);
        command.args(self.machine.qemu_arguments());
        if let Some(grub) = &self.grub {
            let disk = initrd.with_file_name("grub.disk");
            grub::write_disk(&disk, grub, &self.image, initrd, words.trim())?;
            self.add_disk(&mut command, "grub", &DiskImage::unchanged(disk));
        } else {
            command.arg("-kernel").arg(&self.image);
            command.arg("-initrd").arg(initrd);
            command.args(["-append", words.trim()]);
        }
        if let Some(disk) = &self.disk {
            match self.machine.disk()? {
                Disk::Virtio => self.add_disk(&mut command, "disk", disk),
                Disk::SdCard => {
                    command.arg("-drive");
                    command.arg(format!("if=sd,{}", drive_options(disk)));
                }
            }
        }
        if let Some(disk) = &self.usb_disk {
            self.machine.usb("--usb-disk")?;
            command.args(usb_disk_arguments(disk));
        }
        if let Some(packages) = &self.packages {
            let disk = DiskImage::unchanged(packages.clone());
            self.add_disk(&mut command, "packages", &disk);
        }
        if let Some(network) = self.network {
            self.machine.network()?;
            command.args(["-netdev", "user,id=network"]);
            command.arg("-device");
            let device = match network {
                Network::Virtio => self.machine.virtio("net"),
                Network::AroundSmmu => "virtio-net-pci,romfile=".to_owned(),
            };
            command.arg(format!("{device},netdev=network"));
        }
        for device in &self.devices {
            command.args(["-device", device]);
        }
        if let Some(tree) = &self.device_tree {
            command.arg("-dtb").arg(tree);
        }
        if let Some(identity) = &self.machine.identity {
            command.args(identity.qemu_arguments());
        }
        if self.trace.is_some() {
            command.args(["-semihosting-config", "enable=on,target=native"]);
        }
        Ok(command)
    }

    /// Adds a virtio disk. The guest gets an error for what cannot be written: by itself QEMU stops
    /// the machine without a word if the host's disk is full. Its serial number is `id`: Linux does
    /// not name disks in the order of QEMU's options.
    fn add_disk(&self, command: &mut Command, id: &str, disk: &DiskImage) {
        command.arg("-drive");
        command.arg(format!(
            "if=none,id={id},werror=report,{}",
            drive_options(disk)
        ));
        let device = self.machine.virtio("blk");
        command
            .arg("-device")
            .arg(format!("{device},drive={id},serial={id}"));
    }

    /// QEMU's serial ports in their order: the chardevs `console` and, if it is there, `channel`.
    fn add_serial_ports(&self, command: &mut Command, with_channel: bool) {
        for port in &self.machine.recipe.serial {
            let behind = match port {
                Serial::Console => "chardev:console",
                Serial::Channel if with_channel => "chardev:channel",
                Serial::Channel => "null",
            };
            command.args(["-serial", behind]);
        }
    }
}

/// QEMU's arguments for a disk behind USB. Without a port QEMU puts a hub before it, which is asked
/// for news all the time.
fn usb_disk_arguments(disk: &DiskImage) -> [String; 4] {
    let options = drive_options(disk);
    [
        "-drive".into(),
        format!("if=none,id=usb-disk,werror=report,{options}"),
        "-device".into(),
        "usb-storage,drive=usb-disk,port=1".into(),
    ]
}

/// How a drive uses the image.
fn drive_options(disk: &DiskImage) -> String {
    // A comma ends a value of QEMU's unless it is doubled.
    let file = disk.file.display().to_string().replace(',', ",,");
    let snapshot = if disk.keep { "off" } else { "on" };
    let limit = disk.requests_per_second;
    let limit = limit.map_or(String::new(), |it| format!("throttling.iops-total={it},"));
    format!("{limit}format=raw,snapshot={snapshot},file={file}")
}
