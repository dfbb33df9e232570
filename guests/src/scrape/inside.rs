// SPDX-License-Identifier: MIT OR Apache-2.0
//! Libraries in compartments.

use std::fs;

use anyhow::{Context, Result, bail};
use donjon_client::{Compartment, Exit, Image, Instance};
use donjon_loops::Errand;

/// Where a guest has the library.
const IMAGE: &str = "/usr/lib/donjon/library";
/// Where a compartment has its heap, and there its messages.
pub const HEAP: u64 = 0x40_0000_0000;

/// The file of the library.
pub fn image() -> Result<Vec<u8>> {
    fs::read(IMAGE).with_context(|| format!("reading {IMAGE}"))
}

/// Two compartments of this process with a channel.
pub struct Compartments {
    one: Instance,
    other: Instance,
    ends: (u64, u64),
}

impl Compartments {
    /// Makes the two compartments.
    pub fn new(image: &Image<'_>) -> Result<Self> {
        let (one, other) = (Instance::new(image)?, Instance::new(image)?);
        let (end, there) = one.compartment().connect(other.compartment())?;
        let ends = (end.into(), there.into());
        Ok(Self { one, other, ends })
    }

    /// Has one say something, and the other answer; returns the messages that the latter has said.
    pub fn turn(&self, seed: u64) -> Result<u64> {
        let mut said = 0;
        for (it, end, begins) in [(&self.one, self.ends.0, 1), (&self.other, self.ends.1, 0)] {
            let exit = call(it.compartment(), Errand::Turn, end, seed, begins)?;
            match exit {
                Exit::Returned(count) if count != u64::MAX => said = count,
                other => bail!("a message did not come as it was said: {other:x?}"),
            }
        }
        Ok(said)
    }

    /// The compartment that has messages.
    pub fn one(&self) -> &Compartment {
        self.one.compartment()
    }
}

/// Calls a library; how it was left.
pub fn call(it: &Compartment, errand: Errand, first: u64, seed: u64, begins: u64) -> Result<Exit> {
    Ok(it.go_on([errand as u64, first, seed, begins])?)
}
