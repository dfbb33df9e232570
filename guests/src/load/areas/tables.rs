// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sparse mappings: many tables for few pages.

use std::os::fd::AsFd;

use anyhow::{Context, Result, ensure};
use nix::unistd::{pipe, read, write};

use crate::child::Child;
use crate::memory::{Mapping, PAGE, TABLE_SPAN};

/// Tables of the last level that are in use at once: 12 MiB of them.
const TABLES: usize = 3000;

/// One page in each of many tables; a fork that copies them all; all of it given back and taken
/// again.
pub fn sparse() -> Result<()> {
    for round in 0..3 {
        let memory = Mapping::reserved(TABLES * TABLE_SPAN)?;
        let page = |table: usize| table * TABLE_SPAN / PAGE + table % 512;
        (0..TABLES).for_each(|table| memory.stamp_page(page(table), round));
        Child::start(|| {
            for table in 0..TABLES {
                memory.check_page(page(table), round)?;
                memory.stamp_page(page(table), 5);
            }
            Ok(())
        })?
        .join()?;
        (0..TABLES).try_for_each(|table| memory.check_page(page(table), round))?;
    }
    Ok(())
}

/// Processes that take turns, and tables of each: all at once are more than an inner domain has
/// room for, which is 1/64 of memory.
const PROCESSES: usize = 24;
const TABLES_OF_EACH: usize = 120;
const TURNS: usize = 6;

/// Processes that run one after the other, again and again, and find what they wrote each time.
pub fn taking_turns() -> Result<()> {
    let pipes: Vec<_> = (0..PROCESSES).map(|_| pipe()).collect::<Result<_, _>>()?;
    let children: Vec<Child> = (0..PROCESSES)
        .map(|number| {
            let (turn, next) = (&pipes[number].0, &pipes[(number + 1) % PROCESSES].1);
            Child::start(|| take_turns(number, turn, next))
        })
        .collect::<Result<_>>()?;
    write(&pipes[0].1, &[1])?;
    children.into_iter().try_for_each(Child::join)
}

fn take_turns(number: usize, turn: impl AsFd, next: impl AsFd) -> Result<()> {
    let memory = Mapping::reserved(TABLES_OF_EACH * TABLE_SPAN)?;
    let pages = || (0..TABLES_OF_EACH).map(|table| table * TABLE_SPAN / PAGE + table);
    for time in 0..TURNS {
        let mut byte = [0];
        let got = read(&turn, &mut byte).context("read")?;
        ensure!(got == 1, "process {number} has no turn {time}");
        for page in pages() {
            if time > 0 {
                memory.check_page(page, number as u64)?;
            }
            memory.stamp_page(page, number as u64);
        }
        write(&next, &byte)?;
    }
    Ok(())
}
