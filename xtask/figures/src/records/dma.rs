// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transfers behind the SMMU and by USB: `bench dma --json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Figures;

/// Instructions of transfers of 64 MiB.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Dma {
    /// Release of Linux.
    pub linux: String,
    /// Medians by kind of transfer and by machine.
    pub instructions: BTreeMap<String, Figures>,
    /// Least and most of the samples, by kind of transfer and by machine.
    pub range: BTreeMap<String, BTreeMap<String, [f64; 2]>>,
    /// Medians of a disk behind USB, by kind of transfer and by kernel.
    pub usb: BTreeMap<String, Figures>,
}
