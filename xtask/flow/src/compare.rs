// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares the path that a log says with the one that an emulator saw.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use donjon_flow_check::{Event, Limits, replay};

use crate::execute::{Input, Outcome, trace};
use crate::proof::proved;

/// Checks an instrumented program, replays its log, runs the program again one instruction at a
/// time, and compares each address; the number of instructions, flushes included.
///
/// # Errors
///
/// If a rule refuses the program, the log is no path of it, or the first instruction that differs.
pub fn compare(path: &Path, input: &Input, outcome: &Outcome) -> Result<u64> {
    let name = path.display();
    let program = proved(path)?;
    let mut expected = Vec::new();
    replay(
        &program,
        &[outcome.segment(&program)?],
        Limits::default(),
        |event| expected.push(event),
    )
    .with_context(|| name.to_string())?;
    let mut addresses = addresses(&expected);
    let mut flushes = HashMap::new();
    let mut differs = None;
    let mut at = 0_u64;
    let count = trace(path, input, |seen| {
        let is_flush = *flushes
            .entry(seen)
            .or_insert_with(|| program.is_flush(seen));
        if is_flush || differs.is_some() {
            return;
        }
        let said = addresses.next();
        if said != Some(seen) {
            differs = Some((at, said, seen));
        }
        at += 1;
    })?;
    if let Some((at, said, seen)) = differs {
        let said = said.map_or("the end".to_owned(), |it| format!("{it:#x}"));
        bail!("{name}: instruction {at} is at {seen:#x}, and the log says {said}");
    }
    ensure!(
        addresses.next().is_none(),
        "{name}: the log says a path that is longer than the {at} instructions of the run"
    );
    Ok(count)
}

/// The addresses of the instructions of a path.
fn addresses(events: &[Event]) -> impl Iterator<Item = u64> + '_ {
    let mut events = events.iter().copied().peekable();
    std::iter::from_fn(move || {
        let Event::Block { mut start, end, .. } = events.next()? else {
            return None;
        };
        // Counted loops of the block, in order.
        let mut pieces = Vec::new();
        while let Some(Event::Loop {
            start: first,
            end: last,
            times,
        }) = events.next_if(|it| matches!(it, Event::Loop { .. }))
        {
            pieces.push((start..first, 1));
            pieces.push((first..last, times));
            start = last;
        }
        pieces.push((start..end, 1));
        Some(pieces)
    })
    .flatten()
    .flat_map(|(addresses, times)| (0..times).flat_map(move |_| addresses.clone().step_by(4)))
}
