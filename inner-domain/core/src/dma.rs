// SPDX-License-Identifier: MIT OR Apache-2.0
//! What devices reach: one fixed window, which an SMMUv3 shows them (Arm IHI 0070), or to which the
//! registers of the one device that has addresses there are kept.
//!
//! The boot stage fills the tables before Linux starts, and nothing changes them afterwards. A
//! request that a device has taken may land after any invalidation, so memory that a device could
//! reach once never becomes a table, text or private memory: such memory comes from a reserve that
//! no table here shows.

pub mod pci;
pub mod reserve;
pub mod smmu;
pub mod streams;
pub mod translation;
pub mod usb;
pub mod window;

#[cfg(test)]
mod tests;
