// SPDX-License-Identifier: MIT OR Apache-2.0
//! A second compartment, which reaches for the messages.

use anyhow::{Context, Result, bail, ensure};
use donjon_client::{Exit, Image, Instance};
use donjon_loops::{Errand, Library};

use crate::inside::{Compartments, HEAP, call, image};
use crate::pair::Pair;
use crate::place::Place;
use crate::wanted::Tally;

/// How often it tries: each time it dies.
const TIMES: u64 = 16;

/// Loads from the address that messages have, in a compartment that has just run on this CPU, or in
/// a process.
pub fn reach(place: Place, seed: u64, pair: &Pair) -> Result<Tally> {
    let bytes = image()?;
    let image = Image::parse(&bytes)?;
    let near = Compartments::new(&image)?;
    let start = match place {
        Place::Inside => HEAP,
        Place::Outside => pair.target.messages.start,
    };
    let mut tally = Tally::THERE;
    for _ in 0..TIMES {
        near.turn(seed).context("libraries of this process")?;
        // So it would be seen.
        let own = call(near.one(), Errand::Look, HEAP + PLACE, seed, 0)?;
        ensure!(
            own == Exit::Returned(1),
            "a library does not find its own message: {own:x?}"
        );
        let other = Instance::new(&image)?;
        match call(other.compartment(), Errand::Look, start + PLACE, seed, 0)? {
            Exit::Faulted(_) => tally.refused += 1,
            Exit::Returned(found) => {
                tally.read += 1;
                tally.reached += 1;
                tally.found += found;
            }
            other => bail!("it was left otherwise: {other:x?}"),
        }
    }
    Ok(tally)
}

const PLACE: u64 = Library::PLACE as u64;
