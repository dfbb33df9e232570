// SPDX-License-Identifier: MIT OR Apache-2.0
//! mremap: single pages, whole tables, and tables of tables.

use anyhow::{Result, ensure};

use crate::child::Child;
use crate::memory::{Mapping, PAGE, TABLE_SPAN};

/// What one table of level 2 maps.
const DIRECTORY_SPAN: usize = 512 * TABLE_SPAN;
/// Two places far from everything else.
const PLACES: [usize; 2] = [0x10_0000_0000, 0x20_0000_0000];

/// Moves that keep, grow and shrink, by pages that do not begin a table.
pub fn moves() -> Result<()> {
    let mut memory = Mapping::at(PLACES[0] + 5 * PAGE, 900 * PAGE)?;
    memory.stamp(1);
    for round in 1..12 {
        let place = PLACES[round % 2] + round * 3 * PAGE;
        let pages = 900 - 50 * (round % 3);
        // Growing adds zero pages behind those that stay.
        let kept = memory.pages().min(pages);
        memory.move_to(place, pages * PAGE)?;
        for page in 0..kept {
            memory.check_page(page, 1)?;
        }
        for page in kept..pages {
            ensure!(memory.read(page * 512) == 0, "a new page is not empty");
            memory.stamp_page(page, 1);
        }
    }
    Ok(())
}

/// Moves from and to the beginning of tables, where Linux moves the tables themselves.
pub fn table_moves() -> Result<()> {
    for span in [TABLE_SPAN, DIRECTORY_SPAN] {
        rotate(PLACES, span, 2, 8)?;
    }
    Ok(())
}

/// Moves `count` spans back and forth between `places`, with a fork in between.
pub fn rotate(places: [usize; 2], span: usize, count: usize, rounds: u64) -> Result<()> {
    let bytes = count * span;
    let mut memory = Mapping::at(places[0], bytes)?;
    // A page of every table and all pages of the first.
    let mut pages: Vec<usize> = (0..bytes / PAGE).step_by(511).collect();
    pages.extend(0..512);
    pages.iter().for_each(|page| memory.stamp_page(*page, 0));
    for round in 0..rounds {
        let place = places[(round as usize + 1) % 2];
        memory.move_to(place, bytes)?;
        let check = |seed| pages.iter().try_for_each(|it| memory.check_page(*it, seed));
        check(round)?;
        if round % 4 == 0 {
            Child::start(|| {
                check(round)?;
                pages.iter().for_each(|it| memory.stamp_page(*it, 77));
                check(77)
            })?
            .join()?;
        }
        check(round)?;
        pages
            .iter()
            .for_each(|it| memory.stamp_page(*it, round + 1));
        // What was left behind is free.
        Mapping::at(places[round as usize % 2], bytes)?;
    }
    Ok(())
}
