// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds what a machine boots and runs it, for the host side of Donjon.
//!
//! In the order of a build:
//!
//! * [`environment`]: what the host must have, and how it gets it.
//! * [`kernel`]: Linux, from a source to a cached `Image`.
//! * [`bare`]: the inner domain, the boot stage and the guest programs.
//! * [`compartment`]: programs that run in compartments.
//! * [`guest`]: the initial file system; [`disk`]: images of disks; [`rootfs`]: one with Debian.
//! * [`pack`]: the boot image.
//! * [`run`]: all of them for one machine, and `cargo xtask run`.
//!
//! What every command uses besides:
//!
//! * [`arguments`]: what a command line says about the host.
//! * [`paths`]: the repository and the cache.
//! * [`lock`]: locks between commands.
//! * [`progress`]: progress on stderr.
//! * [`json`]: files for `--json`.

pub mod arguments;
pub mod bare;
pub mod compartment;
pub mod disk;
pub mod environment;
pub mod guest;
pub mod json;
pub mod kernel;
pub mod lock;
pub mod pack;
pub mod paths;
pub mod progress;
pub mod rootfs;
pub mod run;
