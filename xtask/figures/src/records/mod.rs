// SPDX-License-Identifier: MIT OR Apache-2.0
//! Documents that `--json` writes, one file for each command.
//!
//! A record is written and read by one type. Its fields stand in the order of the document. What a
//! command leaves out is an `Option` or a list that is skipped; what an earlier version left out
//! and the report does without has a default. Names of modes, kernels, rows and programs are keys:
//! sorted where the map is a `BTreeMap`, in the order of the table where it is an `IndexMap`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub mod attacks;
pub mod audit;
pub mod calls;
pub mod compartments;
pub mod dma;
#[cfg(any(test, feature = "examples"))]
pub mod examples;
pub mod flow;
pub mod idc;
pub mod kselftests;
pub mod lmbench;
pub mod programs;
pub mod recorded;
pub mod scale;
pub mod stress;

/// Name of the kernel without Donjon, beside the names of modes.
pub const NATIVE: &str = "native";

/// Figures by name.
pub type Figures = BTreeMap<String, f64>;

/// Reads a document into its record, and gives the record as a document: whole, in its order, with
/// defaults.
///
/// # Errors
///
/// If the document has another form.
pub fn checked<T: DeserializeOwned + Serialize>(document: &Value) -> Result<Value> {
    let record = T::deserialize(document).context("its JSON has another form")?;
    Ok(serde_json::to_value(record)?)
}

#[cfg(test)]
mod tests;
