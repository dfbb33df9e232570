// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the inner domain, the boot image, Linux and the host tools agree on.
//!
//! Everything here is data: numbers, layouts and their documentation. Each is declared once, with
//! the macros of [`declare`]; `cargo xtask header` makes the C header that Linux includes and the
//! tables in `docs/idc.md` from the declarations.
#![no_std]
#![forbid(unsafe_code)]

pub mod boot_info;
pub mod call;
pub mod declare;
pub mod flow;
pub mod layout;
pub mod manifest;
pub mod registers;
pub mod tcr;
pub mod trace;

/// Every constant that Linux uses, in the order of the C header.
pub fn constants() -> impl Iterator<Item = &'static declare::Constant> {
    let modules = [
        call::CONSTANTS,
        tcr::CONSTANTS,
        layout::CONSTANTS,
        call::function::CONSTANTS,
        flow::CONSTANTS,
    ];
    modules.into_iter().flatten().flatten()
}
