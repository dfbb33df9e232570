// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures that are recorded in the sources, in `docs/figures.json`: `bench --record`.

use serde::{Deserialize, Serialize};

use super::Figures;
use super::calls::Calls;
use super::idc::Idc;
use super::lmbench::Lmbench;

/// Figures that the tables of the documentation are made of, and that no count may exceed.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Recorded {
    /// Null call.
    pub idc: Idc,
    /// Calls of operations.
    pub calls: Calls,
    /// Instructions by row of LMBench, of our own programs in its place, one layout, mode `asid`.
    pub quick: Figures,
    /// LMBench.
    pub lmbench: Lmbench,
}
