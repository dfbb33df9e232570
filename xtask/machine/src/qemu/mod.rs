// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs QEMU: on the terminal, or unattended with one command in the guest.

pub(crate) mod console;
mod exec;
mod interactive;
pub mod monitor;
pub mod pty;
pub mod scratch;
pub mod tree;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::Machine;
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
    /// Image of a virtio disk. What the guest writes to it is dropped at its end.
    pub disk: Option<PathBuf>,
    /// A device tree in place of the one that QEMU makes.
    pub device_tree: Option<PathBuf>,
    /// Where an inner domain that writes down its steps leaves them. Only the test command sets
    /// it: semihosting lets a guest use files of the host.
    pub trace: Option<PathBuf>,
}

impl Boot {
    fn command(&self, initrd: &Path, kernel_words: &str) -> Command {
        let console = &self.machine.recipe.console;
        let mut words = format!("console={console} {kernel_words}");
        if let Some(more) = &self.machine.append {
            words.push(' ');
            words.push_str(more);
        }
        let mut command = Command::new(QEMU);
        command.args(self.machine.qemu_arguments());
        command.arg("-kernel").arg(&self.image);
        command.arg("-initrd").arg(initrd);
        command.args(["-append", words.trim()]);
        if let Some(disk) = &self.disk {
            // A comma ends a value of QEMU's unless it is doubled.
            let file = disk.display().to_string().replace(',', ",,");
            command.arg("-drive").arg(format!(
                "if=none,id=disk,format=raw,snapshot=on,file={file}"
            ));
            command.args(["-device", "virtio-blk-device,drive=disk"]);
        }
        if let Some(tree) = &self.device_tree {
            command.arg("-dtb").arg(tree);
        }
        if self.trace.is_some() {
            command.args(["-semihosting-config", "enable=on,target=native"]);
        }
        command
    }
}
