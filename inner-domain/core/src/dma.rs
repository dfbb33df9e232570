// SPDX-License-Identifier: MIT OR Apache-2.0
//! What devices reach: the plan of an SMMUv3 (Arm IHI 0070) that shows them one fixed window.
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
pub mod window;

#[cfg(test)]
mod tests;
