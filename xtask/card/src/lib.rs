// SPDX-License-Identifier: MIT OR Apache-2.0
//! What boards start from: an SD card for the Raspberry Pi 3, files for the Juno board.
//!
//! * [`command`]: `cargo xtask image`, `cargo xtask flash` and `cargo xtask release`.
//! * [`rpi3`]: the files of the boot partition, and why each line of `config.txt` is there.
//! * [`firmware`]: the files that the Raspberry Pi's firmware is made of.
//! * [`image`]: a card's image, written and read back.
//! * [`disk`]: a disk of the host as the kernel describes it, and when it is refused.
//! * [`flash`]: an image written to a card and compared with it.
//! * [`juno`]: the files for the Juno board.
//! * [`release`]: the files of a release.
//!
//! No part mounts anything or needs root. Equal input gives equal bytes.

pub mod command;
pub mod disk;
mod fat;
pub mod firmware;
pub mod flash;
pub mod image;
pub mod juno;
mod layout;
mod output;
pub mod release;
mod root;
pub mod rpi3;
