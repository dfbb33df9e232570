// SPDX-License-Identifier: MIT OR Apache-2.0
//! Services: programs inside the inner domain that answer calls of their own.
//!
//! A service has an owner number and with it 65,536 function numbers. It sees arguments and
//! returns an [`Outcome`]; gate and dispatcher know nothing of its policy. To add one, implement
//! [`Service`] and list it in [`SERVICES`].

use crate::outcome::{Arguments, Outcome};

/// A service.
pub trait Service: Sync {
    /// Owner number of the service (`donjon_abi::call::Owner`); not 0, which is the core's.
    fn owner(&self) -> u64;

    /// Answers one call, on the caller's CPU with interrupts masked.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownFunction`](donjon_abi::call::Error::UnknownFunction) for a number that it
    /// does not know, and whatever else is the caller's fault.
    fn call(&self, function: u64, arguments: &Arguments) -> Outcome;
}

/// Every service of this build.
static SERVICES: &[&dyn Service] = &[];

/// The service of an owner.
pub fn of(owner: u64) -> Option<&'static dyn Service> {
    SERVICES
        .iter()
        .copied()
        .find(|service| service.owner() == owner)
}
