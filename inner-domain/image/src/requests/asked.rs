// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compartment that asks for something.

use donjon_abi::call::CompartmentExit;
use donjon_core::compartment::{Compartments, Entry, Handle};

use crate::context::Registers;

/// How a request ends the run of a compartment, and the value that Linux gets with it. `None`: the
/// compartment goes on.
pub type End = Option<(CompartmentExit, u64)>;

/// A compartment that asks for something.
pub struct Asked<'a> {
    /// All compartments.
    pub compartments: &'static Compartments<'static>,
    /// The registers of the one that asks.
    pub program: &'a mut Registers,
    /// How the one that asks was entered.
    pub entry: &'a mut Entry,
    /// The handle of the one that asks, and the CPU that it runs on.
    pub at: (Handle, usize),
}
