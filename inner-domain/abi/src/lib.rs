// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the inner domain, the boot image, Linux and the host tools agree on.
//!
//! Everything here is data: numbers, layouts and their documentation. The C header that Linux
//! includes and the table in `docs/idc.md` are generated from [`catalogue`], so that no number
//! is typed twice.
#![no_std]
#![forbid(unsafe_code)]

pub mod boot_info;
pub mod call;
pub mod catalogue;
pub mod layout;
pub mod manifest;
pub mod tcr;
pub mod trace;
