// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a request for a key leaves in the inner domain's memory: nothing of the key, unless stacks
//! are not wiped.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Result, ensure};
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

fn left_by_key(host: &HostArguments, variant: &InnerVariant) -> Result<BTreeSet<u64>> {
    let place = TempDir::new()?;
    let identity = place.path().join("identity");
    fs::write(&identity, IDENTITY)?;
    let parts = parts(host, Some(&identity), variant)?;
    let script = format!("{SAY}echo look\ndonjon-wait\nexit 0\n");
    let (text, memory) = said_and_left(&parts, &script, place.path())?;
    words_of_key(&text, &memory)
}

/// Addresses in the inner domain's memory at which eight bytes of the key stand that the guest has
/// told, in their order or as a register has them.
fn words_of_key(text: &str, memory: &[u8]) -> Result<BTreeSet<u64>> {
    let inner = inner_memory(text)?;
    let key = bytes(&words(said(text, "key")?)?);
    let mut reversed = key;
    reversed.reverse();
    let windows = key.windows(8).chain(reversed.windows(8));
    let found =
        windows.flat_map(|it| memchr::memmem::find_iter(memory, it).map(|at| START + at as u64));
    Ok(found.filter(|it| inner.contains(it)).collect())
}
