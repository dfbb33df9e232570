// SPDX-License-Identifier: MIT OR Apache-2.0
//! A replayed path beside the one that was run, instruction by instruction.

use std::collections::BTreeMap;

use super::assembler::Label;
use super::interpreter::Run;
use crate::program::{Input, Program};
use crate::replay::{Event, Failure, Limits, replay};

/// Bytes of a flush.
const FLUSH: u64 = 4 * 19;

/// Makes the input for a check of a text at [`super::assembler::BASE`].
pub fn input(words: &[u32], labels: &BTreeMap<Label, u64>) -> Input {
    let functions = labels
        .iter()
        .filter(|it| matches!(it.0, Label::Function(_)));
    Input {
        text: vec![(super::assembler::BASE, words.to_vec())],
        entry: super::assembler::BASE,
        targets: functions.map(|it| *it.1).collect(),
        ..Input::default()
    }
}

/// Replays a run.
pub fn events(program: &Program, run: &Run) -> Result<Vec<Event>, Failure> {
    let mut events = Vec::new();
    replay(program, &run.segments(), Limits::default(), |it| {
        events.push(it)
    })?;
    Ok(events)
}

/// Compares the path of a log with the one that was run.
pub fn same(program: &Program, run: &Run, labels: &BTreeMap<Label, u64>) -> Result<(), String> {
    if !run.proved {
        return Err("the chain over the log does not lead to the state".to_owned());
    }
    let events = events(program, run).map_err(|it| it.to_string())?;
    let flushes: Vec<_> = labels
        .iter()
        .filter(|it| matches!(it.0, Label::Flush(..)))
        .map(|it| *it.1..*it.1 + FLUSH)
        .collect();
    let own = |pc: &&u64| !flushes.iter().any(|it| it.contains(pc));
    let trace: Vec<u64> = run.trace.iter().filter(own).copied().collect();
    let mut rest = &trace[..];
    let starts = |it: &Event| matches!(it, Event::Block { .. });
    let count = events.iter().filter(|it| starts(it)).count();
    let mut blocks = 0;
    let mut events = events.iter().peekable();
    while let Some(Event::Block { start, end, .. }) = events.next() {
        let mut expected = Vec::new();
        let mut at = *start;
        while let Some(Event::Loop { start, end, times }) = events.peek() {
            expected.extend((at..*start).step_by(4));
            for _ in 0..*times {
                expected.extend((*start..*end).step_by(4));
            }
            at = *end;
            events.next();
        }
        blocks += 1;
        if blocks < count {
            expected.extend((at..*end).step_by(4));
            rest = rest
                .strip_prefix(&expected[..])
                .ok_or_else(|| format!("the block at {start:#x} did not run next"))?;
        } else {
            let begins = rest.starts_with(&expected);
            let inside = rest.iter().all(|it| (*start..*end).contains(it));
            let entered = rest.first().is_none_or(|it| it == start);
            if !begins || !inside || !entered {
                return Err(format!("the block at {start:#x} was not the last one"));
            }
        }
    }
    Ok(())
}
