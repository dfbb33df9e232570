// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a request for a key leaves in the inner domain's memory: nothing of the key, unless stacks
//! are not wiped.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_machine::arguments::Switch;
use donjon_machine::finding::Finding;
use tempfile::TempDir;

use super::{IDENTITY, START, bytes, inner_memory, parts, said, said_and_left, words};

/// Leaves stacks as they are, among other things.
const UNWIPED: &str = "weaken-wipe";
/// Makes a report and a key, and says where the inner domain's memory is.
const SAY: &str = "\
donjon-compartment report || exit 1
donjon-compartment key || exit 1
grep ^memory: /sys/kernel/security/donjon/status
";

/// In a sound build.
pub fn nothing(host: &HostArguments) -> Result<()> {
    let left = left_by_key(host, &InnerVariant::sound(Switch::Asid))?;
    if left.is_empty() {
        return Ok(());
    }
    Err(Finding::Violation.error(format!(
        "words of a compartment's key are in the inner domain's memory at {left:x?}"
    )))
}

/// In a build that wipes nothing.
pub fn unwiped(host: &HostArguments) -> Result<()> {
    let mut variant = InnerVariant::sound(Switch::Asid);
    variant.weakened.push(UNWIPED.into());
    let left = left_by_key(host, &variant)?;
    ensure!(
        !left.is_empty(),
        "nothing is left although nothing was wiped"
    );
    Ok(())
}

/// Returns the addresses in the inner domain's memory at which eight bytes of a key stand that a
/// compartment has asked for, in their order or as a register has them.
fn left_by_key(host: &HostArguments, variant: &InnerVariant) -> Result<BTreeSet<u64>> {
    let place = TempDir::new()?;
    let identity = place.path().join("identity");
    fs::write(&identity, IDENTITY)?;
    let parts = parts(host, Some(&identity), variant)?;
    let script = format!("{SAY}echo look\ndonjon-wait\nexit 0\n");
    let (text, memory) = said_and_left(&parts, &script, place.path())?;
    let inner = inner_memory(&text)?;
    let start = usize::try_from(inner.start().saturating_sub(START))?;
    let end = usize::try_from(inner.end().saturating_sub(START))?;
    let memory = memory.get(start..=end);
    let memory = memory.context("the inner domain's memory is not in what was saved")?;
    let key = bytes(&words(said(&text, "key")?)?);
    let mut reversed = key;
    reversed.reverse();
    let places = places_of(&[key, reversed], memory).into_iter();
    Ok(places.map(|it| inner.start() + it as u64).collect())
}

/// Returns where in memory eight bytes of a secret stand that follow each other in it.
fn places_of(secrets: &[[u8; 32]], memory: &[u8]) -> BTreeSet<usize> {
    let windows = secrets.iter().flat_map(|it| it.windows(8));
    windows
        .flat_map(|it| memchr::memmem::find_iter(memory, it))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_bytes_of_a_secret_are_found_and_seven_are_not() {
        let secret: [u8; 32] = std::array::from_fn(|it| it as u8 + 1);
        let mut memory = [0; 64];
        memory[5..13].copy_from_slice(&secret[20..28]);
        memory[40..47].copy_from_slice(&secret[..7]);
        assert_eq!(places_of(&[secret], &memory), BTreeSet::from([5]));
    }
}
