// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs QEMU: on the terminal, or unattended with one command in the guest.

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

use anyhow::Result;

use crate::machine::{Channel, Disk, Machine, Serial};
use crate::tools::QEMU;

pub use exec::{Live, Stream, exec, exec_live, exec_watched};
pub use interactive::{Symbols, interactive};

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
    /// Image of a disk. What the guest writes to it is dropped at its end.
    pub disk: Option<PathBuf>,
    /// A device tree in place of the one that QEMU makes.
    pub device_tree: Option<PathBuf>,
    /// Where an inner domain that writes down its steps leaves them. Only the test command sets
    /// it: semihosting lets a guest use files of the host.
    pub trace: Option<PathBuf>,
}

impl Boot {
    fn command(&self, initrd: &Path, kernel_words: &str) -> Result<Command> {
        let console = &self.machine.recipe.console;
        let mut words = format!("console={console} {kernel_words}");
        if let Channel::Serial(device) = &self.machine.recipe.channel {
            words.push_str(&format!(" donjon.channel={device}"));
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
            add_disk(&mut command, "grub", &disk);
        } else {
            command.arg("-kernel").arg(&self.image);
            command.arg("-initrd").arg(initrd);
            command.args(["-append", words.trim()]);
        }
        if let Some(disk) = &self.disk {
            match self.machine.disk()? {
                Disk::Virtio => add_disk(&mut command, "disk", disk),
                Disk::SdCard => {
                    command.arg("-drive");
                    command.arg(format!("if=sd,{}", drive_options(disk)));
                }
            }
        }
        if let Some(tree) = &self.device_tree {
            command.arg("-dtb").arg(tree);
        }
        if self.trace.is_some() {
            command.args(["-semihosting-config", "enable=on,target=native"]);
        }
        Ok(command)
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

/// A virtio disk. What is written to it is dropped at the end.
fn add_disk(command: &mut Command, id: &str, file: &Path) {
    command.arg("-drive");
    command.arg(format!("if=none,id={id},{}", drive_options(file)));
    command
        .arg("-device")
        .arg(format!("virtio-blk-device,drive={id}"));
}

/// How a drive uses `file`: what is written to it is dropped at the end.
fn drive_options(file: &Path) -> String {
    // A comma ends a value of QEMU's unless it is doubled.
    let file = file.display().to_string().replace(',', ",,");
    format!("format=raw,snapshot=on,file={file}")
}
