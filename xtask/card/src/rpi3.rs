// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boot partition of a Raspberry Pi 3 B or B+.
//!
//! What is said here of the firmware is in the Raspberry Pi documentation,
//! <https://www.raspberrypi.com/documentation/computers/config_txt.html> and
//! <https://www.raspberrypi.com/documentation/computers/configuration.html>.

pub use crate::fat::BootFile;

/// Name of the boot image.
pub const KERNEL: &str = "kernel8.img";
/// Name of the file with Linux's command line.
pub const COMMAND_LINE: &str = "cmdline.txt";
/// Name of the firmware's configuration.
pub const CONFIG: &str = "config.txt";
/// Device tree of the 3 B+.
pub const TREE_B_PLUS: &str = "bcm2837-rpi-3-b-plus.dtb";
/// Device tree of the 3 B.
pub const TREE_B: &str = "bcm2837-rpi-3-b.dtb";
/// The device trees of the card, by their names in the kernel's build.
pub const TREES: [&str; 2] = [TREE_B_PLUS, TREE_B];

/// What the firmware is told.
///
/// * "Model filters": `[pi3]` is true on every Pi 3, `[pi3+]` on the 3 A+ and 3 B+ alone, and the
///   later of two settings counts.
/// * `arm_64bit=1`: starts the CPUs in AArch64, at EL2, and loads `kernel8.img`.
/// * `kernel_address`: new firmware puts a 64-bit kernel there by itself, older one at 0x80000. The
///   boot image needs a multiple of 2 MiB.
/// * `enable_uart=1`: GPIO 14 and 15 are the mini UART on boards with Bluetooth. Its clock is the
///   VideoCore's, which this option fixes at 250 MHz ("Mini UART and CPU core frequency").
/// * `device_tree`: the kernel's own tree, whose console is that UART; the firmware's own are for
///   another kernel.
/// * No `dtoverlay`: overlays are written for the firmware's trees.
const CONFIG_TEXT: &str = "\
# Donjon on a Raspberry Pi 3 B or B+. docs/sd-card.md says more.
arm_64bit=1
kernel=kernel8.img
kernel_address=0x200000
cmdline=cmdline.txt
enable_uart=1
[pi3]
device_tree=bcm2837-rpi-3-b.dtb
[pi3+]
device_tree=bcm2837-rpi-3-b-plus.dtb
[all]
";

/// What a card is made of.
pub struct Parts {
    /// The boot image: boot stage, inner domain and Linux.
    pub kernel: Vec<u8>,
    /// The files [`TREES`].
    pub trees: Vec<BootFile>,
    /// What [`crate::firmware::read`] returns.
    pub firmware: Vec<BootFile>,
    /// Archive (format `newc`) of the root partition's files, `/init` among them.
    pub root: Vec<u8>,
}

impl Parts {
    /// Files of the boot partition but for Linux's command line, which names the card.
    pub(crate) fn boot_files(&self) -> Vec<BootFile> {
        let mut files = self.firmware.clone();
        files.push(BootFile::new(CONFIG, CONFIG_TEXT));
        files.push(BootFile::new(KERNEL, self.kernel.clone()));
        files.extend(self.trees.iter().cloned());
        files
    }
}

/// Linux's command line with the root partition `partuuid`. In the kernel's device trees the mini
/// UART is `serial1`, hence ttyS1. The firmware replaces names of the other UARTs alone.
pub(crate) fn command_line(partuuid: &str) -> String {
    format!(
        "console=ttyS1,115200 root=PARTUUID={partuuid} rootfstype=ext4 rw rootwait init=/init\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_names_the_files_of_the_card() {
        for name in [KERNEL, COMMAND_LINE, TREE_B, TREE_B_PLUS] {
            assert!(CONFIG_TEXT.contains(&format!("={name}\n")), "{name}");
        }
    }

    #[test]
    fn the_command_line_is_one_line() {
        // The firmware reads no second one.
        assert_eq!(command_line("12345678-02").lines().count(), 1);
    }

    #[test]
    fn no_line_of_the_configuration_is_too_long() {
        // Older firmware reads 80 characters of a line.
        assert!(CONFIG_TEXT.lines().all(|it| it.len() < 80));
    }
}
