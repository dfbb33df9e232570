// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generates files of the repository, for the host side of Donjon.
//!
//! * [`header`]: the C header for Linux and the tables of the call reference, from
//!   `inner-domain/abi`.
//! * [`allow`]: what is generated from `kernel-patch/allow-list.toml`, and that list over a kernel.
//! * [`architecture`]: the map of modules and C files in `docs/architecture.md`.
//! * [`circle`]: circles of files that use each other.
//! * [`section`]: parts of documents that are generated.
//! * [`generated`]: generated files are written, or compared with what is there.

#[cfg(test)]
mod addresses;
pub mod allow;
pub mod architecture;
pub mod circle;
#[cfg(test)]
mod circles;
pub mod generated;
pub mod header;
#[cfg(test)]
mod product;
pub mod section;
#[cfg(test)]
mod sources;
