// SPDX-License-Identifier: MIT OR Apache-2.0
//! What runs in the guest: BusyBox, our programs, and the script that starts everything.

mod apt;
mod archive;
mod package;

pub use apt::Apt;
pub use donjon_machine::initramfs::{base, with_file, with_programs};
pub use package::{
    Component, obtain_busybox, obtain_busybox_for_32_bits, obtain_grub, obtain_libraries,
    obtain_non_free,
};
