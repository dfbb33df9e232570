// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of compartments counts against its holder's RLIMIT_MEMLOCK: of a user that has no
//! capability.

use std::fs;

use anyhow::{Context, Result, bail, ensure};
use donjon_client::{Access, Compartment, Shared};
use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::{Uid, setuid};

use crate::code;
use crate::program::{CODE, DATA, SHARED};

const PAGE: u64 = 4096;
const USER: u32 = 1000;
/// Pages that this process may ask to be limited to.
const MOST: u64 = 4096;
/// Frames that each compartment here may have.
const FRAMES: u64 = 64;
/// Pages that it shares.
const PINNED: u64 = 32;
/// Pages of 128 MiB.
const MANY: u64 = 32_768;

fn limit(pages: u64) -> Result<()> {
    setrlimit(Resource::RLIMIT_MEMLOCK, pages * PAGE, MOST * PAGE).context("setting a limit")
}

/// Pages that this process is charged for, as Linux shows them.
fn charged() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmPin:"));
    let kilobytes = line.and_then(|it| it.split_whitespace().next());
    Ok(kilobytes.context("no VmPin")?.parse::<u64>()? * 1024 / PAGE)
}

/// A request ends with this error, and what is charged stays.
fn refused<T>(
    what: &str,
    done: Result<T, donjon_client::Error>,
    error: i32,
    is: u64,
) -> Result<()> {
    let Err(cause) = done else {
        bail!("{what}: SUCCEEDED beyond the limit");
    };
    ensure!(
        cause.cause().raw_os_error() == Some(error),
        "{what}: {cause:?}"
    );
    let pages = charged()?;
    ensure!(pages == is, "{what}: {pages} pages are charged, not {is}");
    println!("compartment: {what}: refused, {pages} pages are charged");
    Ok(())
}

fn holds(what: &str, pages: u64) -> Result<()> {
    let is = charged()?;
    ensure!(is == pages, "{what}: {is} pages are charged, not {pages}");
    println!("compartment: {what}: {pages} pages are charged");
    Ok(())
}

fn share(it: &Compartment, va: u64, pages: &Shared) -> Result<(), donjon_client::Error> {
    // SAFETY: nothing looks at their bytes.
    unsafe { it.share(va, pages) }
}

/// Tries each way to memory, up to the limit and beyond it.
pub fn check() -> Result<()> {
    limit(0)?;
    setuid(Uid::from_raw(USER))?;
    refused(
        "making one with a limit of 0",
        Compartment::create(FRAMES),
        libc::ENOMEM,
        0,
    )?;

    limit(FRAMES + PINNED)?;
    let it = Compartment::create(FRAMES)?;
    holds("one", FRAMES)?;
    it.add(CODE, code::page(), Access::Execute)?;
    it.add(DATA, &[0; 4096], Access::Write)?;
    it.seal(CODE, DATA + PAGE)?;
    let many = Shared::new((MANY * PAGE) as usize)?;
    refused("128 MiB", share(&it, SHARED, &many), libc::ENOMEM, FRAMES)?;
    let pages = Shared::new((PINNED * PAGE) as usize)?;
    share(&it, SHARED, &pages)?;
    let all = FRAMES + PINNED;
    holds("with shared pages", all)?;
    let one = Shared::new(PAGE as usize)?;
    let behind = SHARED + PINNED * PAGE;
    refused("one page more", share(&it, behind, &one), libc::ENOMEM, all)?;
    refused(
        "another one",
        Compartment::create(FRAMES),
        libc::ENOMEM,
        all,
    )?;
    refused("a clone", it.another(), libc::ENOMEM, all)?;
    // Without a capability, within what was charged.
    it.reserve((FRAMES - 16) * PAGE)?;
    refused(
        "reserving more",
        it.reserve(FRAMES * PAGE),
        libc::EDQUOT,
        all,
    )?;
    refused(
        "reserving more than a word can count",
        it.reserve(u64::MAX),
        libc::EDQUOT,
        all,
    )?;
    drop(it);
    holds("when it has ended", 0)?;

    limit(2 * FRAMES)?;
    let template = Compartment::create(FRAMES)?;
    template.add(CODE, code::page(), Access::Execute)?;
    template.add(DATA, &[0; 4096], Access::Write)?;
    template.seal(CODE, DATA + PAGE)?;
    let clone = template.another()?;
    holds("with a clone", 2 * FRAMES)?;
    // The clone keeps what it was made from.
    drop(template);
    holds("a clone alone", 2 * FRAMES)?;
    drop(clone);
    holds("at the end", 0)?;
    println!("compartment: each way to memory is charged");
    Ok(())
}
