// SPDX-License-Identifier: MIT OR Apache-2.0
//! What benchmarks write and the report reads.
//!
//! * [`parts`]: what is measured, and by which subcommand.
//! * [`store`]: where JSON documents are kept, and what is known of each.
//! * [`published`]: the figures of others.
//! * [`counts`]: instruction counts, by name.
//! * [`records`]: the documents that `--json` writes.
//! * [`format`]: how figures are shown.

pub mod counts;
pub mod format;
pub mod parts;
pub mod published;
pub mod records;
pub mod store;
