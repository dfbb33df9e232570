// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every way to read memory, again and again, while two libraries exchange messages.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::pair::Pair;
use crate::place::Place;
use crate::wanted::Tally;
use crate::{core_dump, kernel_files, module, process};

/// What is searched, and how it was started.
pub struct Search {
    /// Where the libraries are.
    pub place: Place,
    /// Seed of their messages.
    pub seed: u64,
    /// The libraries.
    pub pair: Pair,
}

/// A way to read memory.
pub type Way = (&'static str, fn(&Search) -> Result<Tally>);

/// Ways of the kernel's module, which see all of RAM. They come before the ways that leave copies
/// of what they find.
pub const OF_MODULE: [Way; 7] = [
    ("linear", |it| {
        module::search("linear", it.pair.target.wanted)
    }),
    ("map", |it| module::search("map", it.pair.target.wanted)),
    ("device", |it| {
        module::search("device", it.pair.target.wanted)
    }),
    ("user", |it| module::search("user", it.pair.target.wanted)),
    ("table", |it| module::search("table", it.pair.target.wanted)),
    ("store", |it| module::search("store", it.pair.target.wanted)),
    ("link", |it| module::search("link", it.pair.target.wanted)),
];

/// Ways of a process of any user.
pub const OF_USER: [Way; 5] = [
    ("mem", |it| process::mem(&it.pair.target)),
    ("process-vm-readv", |it| process::vm_read(&it.pair.target)),
    ("ptrace", |it| process::trace(&it.pair.target)),
    ("kcore", |it| kernel_files::kcore(it.pair.target.wanted)),
    ("dev-mem", |it| kernel_files::memory(it.pair.target.wanted)),
];

/// Way that root has besides: it changes what the whole machine does.
pub const CORE: Way = ("core-dump", |it| core_dump::read(it.place, it.seed));

/// One round at least, and until the time is over. `PLACE-WAY:` what was counted, `PLACE:` rounds,
/// seconds and messages.
pub fn run(place: Place, seed: u64, seconds: u64) -> Result<()> {
    let pair = Pair::start(place, seed)?;
    let search = Search { place, seed, pair };
    let ways: Vec<Way> = [&OF_MODULE[..], &OF_USER, &[CORE]].concat();
    let mut tallies = vec![Tally::default(); ways.len()];
    let mut rounds = 0;
    let begin = Instant::now();
    while rounds == 0 || begin.elapsed() < Duration::from_secs(seconds) {
        for ((name, way), tally) in ways.iter().zip(&mut tallies) {
            *tally += way(&search).with_context(|| format!("{}, {name}", place.name()))?;
            search.pair.goes_on().with_context(|| (*name).to_owned())?;
        }
        rounds += 1;
    }
    let place = place.name();
    let (took, said) = (begin.elapsed().as_secs(), search.pair.said());
    println!("{place}: {rounds} {took} {said}");
    for ((name, _), tally) in ways.iter().zip(tallies) {
        println!("{place}-{name}: {tally}");
    }
    Ok(())
}
