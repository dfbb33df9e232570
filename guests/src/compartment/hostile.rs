// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compartments that reach for each other's memory, and requests that come at the wrong time.

use anyhow::{Result, bail, ensure};
use donjon_client::{Access, Compartment, Exit, Shared};

use crate::code;
use crate::program::{CODE, DATA, make};

/// Compartments that are there at once.
const COUNT: u64 = 16;
const STRIDE: u64 = 0x1_0000;
const SECRET: u8 = 0xc5;
/// What a template has.
const EMPTY: u8 = 0x5a;

/// Makes a compartment with code and a secret at addresses of its own.
fn with_secret(index: u64) -> Result<Compartment> {
    let it = Compartment::create(16)?;
    let code = CODE + index * STRIDE;
    it.add(code, code::page(), Access::Execute)?;
    it.add(place(index), &[SECRET; 4096], Access::Write)?;
    it.seal(code, place(index) + 4096)?;
    Ok(it)
}

const fn place(index: u64) -> u64 {
    CODE + index * STRIDE + STRIDE / 2
}

const fn word_of(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// All pairs of compartments with different numbers.
fn all_pairs() -> impl Iterator<Item = (u64, u64)> {
    let all = (0..COUNT).flat_map(|reader| (0..COUNT).map(move |target| (reader, target)));
    all.filter(|(reader, target)| reader != target)
}

/// Checks that each compartment reads its own secret, and dies when it reaches for the secret of
/// another.
pub fn pairs() -> Result<()> {
    let own = Exit::Returned(word_of(SECRET));
    let all: Vec<Compartment> = (0..COUNT).map(with_secret).collect::<Result<_>>()?;
    let mut faults = 0;
    for (number, (reader, target)) in (COUNT..).zip(all_pairs()) {
        let it = with_secret(number)?;
        let found = it.run([3, place(number), 0, 0])?;
        ensure!(found == own, "{found:x?} of its own");
        // The CPU has just been in the one whose secret it is.
        let there = all[target as usize].run([3, place(target), 0, 0])?;
        ensure!(there == own, "{there:x?}");
        match it.run([3, place(target), 0, 0])? {
            Exit::Faulted(_) => faults += 1,
            other => bail!("{reader} reads of {target}: SUCCEEDED, {other:x?}"),
        }
    }
    println!("compartment: {faults} reads of another one's memory: all faulted");
    clones()
}

/// Each clone of one template writes its number at a place of its own, and finds at those of the
/// others what the template had.
fn clones() -> Result<()> {
    let template = make(16)?;
    let all: Vec<Compartment> = (0..COUNT)
        .map(|_| Ok(template.another()?))
        .collect::<Result<_>>()?;
    for (index, it) in (0..).zip(&all) {
        let stored = it.run([5, DATA + index * 8, index, 0])?;
        ensure!(stored == Exit::Returned(0), "{stored:x?}");
    }
    let empty = Exit::Returned(word_of(EMPTY));
    for (reader, target) in all_pairs() {
        let found = all[reader as usize].run([3, DATA + target * 8, 0, 0])?;
        ensure!(
            found == empty,
            "clone {reader} reads of {target}: SUCCEEDED, {found:x?}"
        );
    }
    println!(
        "compartment: {} reads of another clone's data: all as the template",
        COUNT * (COUNT - 1)
    );
    Ok(())
}

/// Requests that are refused: of a compartment that is not sealed, is sealed, or has run.
pub fn wrong_time() -> Result<()> {
    let page = [0; 4096];
    let building = Compartment::create(16)?;
    building.add(CODE, code::page(), Access::Execute)?;
    let sealed = make(64)?;
    let ran = make(64)?;
    ran.run([0; 4])?;
    let outside = Shared::new(page.len())?;
    // SAFETY: no slice of that page is in use.
    let share = |va| unsafe { sealed.share(va, &outside) };
    for (what, refused) in [
        ("run before it is sealed", building.run([0; 4]).is_err()),
        ("clone before it is sealed", building.another().is_err()),
        (
            "a second page at an address",
            building.add(CODE, &page, Access::Write).is_err(),
        ),
        (
            "a page of the heap",
            building.add(1 << 38, &page, Access::Write).is_err(),
        ),
        (
            "a page of the kernel's range",
            building.add(0xffff << 48, &page, Access::Write).is_err(),
        ),
        (
            "add after the seal",
            sealed.add(DATA + STRIDE, &page, Access::Execute).is_err(),
        ),
        (
            "seal after the seal",
            sealed.seal(DATA, DATA + 4096).is_err(),
        ),
        ("share in place of its own page", share(DATA).is_err()),
        ("share in the heap", share(1 << 38).is_err()),
        ("clone what has run", ran.another().is_err()),
        ("a limit of no frames", Compartment::create(0).is_err()),
    ] {
        ensure!(refused, "{what}: SUCCEEDED");
    }
    println!("compartment: requests at the wrong time: all refused");
    Ok(())
}
