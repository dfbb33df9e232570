// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boot stage: from the loader to Linux over a running inner domain.
//!
//! Under UEFI, [`efi`] does what another loader would have done, and goes on at the same entry.
//! `start.S` leaves EL2 if it is there and turns the MMU on; [`entry::boot_main`] does the rest and
//! returns what `start.S` needs to enter Linux. Nothing of it survives but the page in `stay.S`.
#![no_std]
#![no_main]

mod assembly;
mod efi;
mod entry;
mod facts;
mod hardware;
mod heap;
mod identity;
mod image;
mod inner;
mod measure;
mod parked;
mod power;
mod region;
mod report;
mod secrets;
mod sequence;
mod stop;

use donjon_boot::{board, bridge, device_tree, devices, failure, pins, reserved, usb};
