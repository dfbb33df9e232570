// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations, on private anonymous memory in pages of 4 KiB.

use anyhow::{Context, Result, bail, ensure};
use donjon_guests::memory::{Mapping, PAGE, TABLE_SPAN};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

use crate::meter::{Meter, Sample};

/// Most repetitions of an operation.
const MOST: usize = 15;
/// Most pages of all repetitions of an operation together; a larger operation is made once.
const TOGETHER: usize = 1 << 14;
/// Words of a page.
const WORDS: usize = PAGE / 8;

/// Names of the operations, in the order in which they are measured: what comes first finds memory
/// that nothing has used since the boot.
const NAMES: [&str; 6] = ["fork", "protect", "read", "map", "unmap", "sparse"];

/// Measures the operations that `words` names, behind a number of pages.
pub fn run(words: &[String]) -> Result<()> {
    let (inside, words) = match words {
        [option, rest @ ..] if option == "--inside" => (true, rest),
        all => (false, all),
    };
    let [pages, names @ ..] = words else {
        bail!("usage: donjon-scale [--inside] PAGES OPERATION…");
    };
    let pages: usize = pages.parse().context("a number of pages")?;
    ensure!(pages > 0 && !names.is_empty(), "nothing to measure");
    if let Some(unknown) = names.iter().find(|it| !NAMES.contains(&it.as_str())) {
        bail!("{unknown} is no operation; there are: {}", NAMES.join(", "));
    }
    let mut meter = Meter::start(inside)?;
    let times = (TOGETHER / pages).clamp(1, MOST);
    // The first of several repetitions warms up and is not printed. An operation that is made once
    // is of the largest size, and smaller ones before it have warmed up.
    let warm_up = usize::from(times > 1);
    for time in 0..times + warm_up {
        for (name, sample) in once(&mut meter, pages, names)? {
            if time < warm_up {
                continue;
            }
            match sample {
                Sample::All(instructions) => println!("sample: {name} {pages} {instructions}"),
                Sample::Inside(calls, instructions) => {
                    println!("inside: {name} {pages} {calls} {instructions}");
                }
            }
        }
    }
    Ok(())
}

/// Measures each named operation once.
fn once(meter: &mut Meter, pages: usize, names: &[String]) -> Result<Vec<(&'static str, Sample)>> {
    let is_wanted = |name: &str| names.iter().any(|it| it == name);
    let mut samples = Vec::new();
    if is_wanted("fork") {
        let _resident = touched(pages)?;
        samples.push(("fork", meter.measure(fork_and_exit)?));
    }
    if is_wanted("protect") || is_wanted("read") {
        let memory = touched(pages)?;
        let protect = meter.measure(|| memory.protect(0, pages, libc::PROT_READ))?;
        samples.push(("protect", protect));
        samples.push(("read", meter.measure(|| read(&memory))?));
    }
    if is_wanted("map") || is_wanted("unmap") {
        let mut memory = None;
        let map = meter.measure(|| {
            memory = Some(touched(pages)?);
            Ok(())
        })?;
        samples.push(("map", map));
        let unmap = meter.measure(|| {
            drop(memory.take());
            Ok(())
        })?;
        samples.push(("unmap", unmap));
    }
    if is_wanted("sparse") {
        let memory = Mapping::reserved(pages * TABLE_SPAN)?;
        let touch = |value| (0..pages).for_each(|it| memory.write(it * TABLE_SPAN / 8, value));
        touch(1);
        let again = meter.measure(|| {
            touch(2);
            Ok(())
        })?;
        samples.push(("sparse", again));
    }
    samples.retain(|(name, _)| is_wanted(name));
    Ok(samples)
}

/// New memory, each page of which was written to once.
fn touched(pages: usize) -> Result<Mapping> {
    let memory = Mapping::reserved(pages * PAGE)?;
    (0..pages).for_each(|page| memory.write(page * WORDS, 1));
    Ok(memory)
}

fn read(memory: &Mapping) -> Result<()> {
    let sum: u64 = (0..memory.pages())
        .map(|page| memory.read(page * WORDS))
        .sum();
    ensure!(sum == memory.pages() as u64, "memory has changed");
    Ok(())
}

fn fork_and_exit() -> Result<()> {
    // SAFETY: this program has one thread, so the child may do what it likes.
    match unsafe { fork() }? {
        // SAFETY: ends the child.
        ForkResult::Child => unsafe { libc::_exit(0) },
        ForkResult::Parent { child } => {
            let status = waitpid(child, None)?;
            ensure!(
                matches!(status, WaitStatus::Exited(_, 0)),
                "a child ended with {status:?}"
            );
            Ok(())
        }
    }
}
