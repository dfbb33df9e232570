// SPDX-License-Identifier: MIT OR Apache-2.0
//! What runs in the guest: BusyBox, our programs, and the script that starts everything.

mod archive;
mod initramfs;
mod package;

pub use initramfs::{base, with_command, with_file, with_programs};
pub use package::{obtain_busybox, obtain_libraries, obtain_non_free};

/// Names of the virtio ports that carry the output of a command, and its status.
pub const PORTS: [&str; 3] = ["donjon.stdout", "donjon.stderr", "donjon.status"];
