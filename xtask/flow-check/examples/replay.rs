// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays the log of a program that an emulator ran: `replay ELF OUTCOME [TRACE]`.
//!
//! OUTCOME is what the program's host wrote: 8 bytes of a magic, the number of the last request,
//! its five results, x28, the chain's state, the number of words, and the words. The chain is
//! compared with FIRST, four words in hexadecimal, if the environment has it. The addresses of all
//! instructions of the path, flushes not included, go to TRACE, one a line.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use donjon_flow_chain::State;
use donjon_flow_check::{End, Ending, Event, Limits, Program, Segment, read_section, replay};

/// Words before those of the log.
const HEAD: usize = 13;
const FINISH: u32 = 0xd400_0181;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().context("say: replay ELF OUTCOME [TRACE]");
    let (elf, outcome) = (std::fs::read(next()?)?, std::fs::read(next()?)?);
    let trace = next().ok();
    let input = read_section(&elf, ".text")?;
    let (base, text) = input.text.first().context("it has no text")?;
    let ends: Vec<_> = (0_u64..).zip(text).filter(|it| *it.1 == FINISH).collect();
    ensure!(ends.len() == 1, "it has {} words svc #12", ends.len());
    let pc = base + 4 * ends[0].0 + 4;
    let program = Program::check(input).map_err(|it| {
        let lines: Vec<_> = it.iter().map(ToString::to_string).collect();
        anyhow::anyhow!("{}", lines.join("\n"))
    })?;
    let words = outcome.as_chunks::<8>().0;
    let words: Vec<_> = words.iter().map(|&it| u64::from_le_bytes(it)).collect();
    ensure!(words.len() >= HEAD, "the outcome is cut");
    let (head, log) = words.split_at(HEAD);
    if let Ok(first) = std::env::var("FIRST") {
        let first: Result<Vec<_>, _> = first
            .split(' ')
            .map(|it| u64::from_str_radix(it, 16))
            .collect();
        let first: [u64; 4] = first?.try_into().ok().context("FIRST has four words")?;
        let state = log.iter().fold(State(first), |it, &word| it.absorb(word));
        ensure!(state.0 == head[8..12], "the chain ends in another state");
    }
    let path = head[7];
    let segment = Segment {
        words: log,
        end: End {
            how: Ending::Finished,
            pc,
            path,
        },
    };
    let start = Instant::now();
    let (mut blocks, mut loops, mut check) = (0_u64, 0_u64, 0_u64);
    let totals = replay(&program, &[segment], Limits::default(), |it| match it {
        Event::Block { start, end } => {
            blocks += 1;
            check = check.rotate_left(5) ^ start ^ end;
        }
        Event::Loop { times, .. } => loops += times,
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let speed = blocks as f64 / seconds / 1e6;
    println!(
        "{} words, {blocks} blocks, {loops} rounds, {totals:?}",
        log.len()
    );
    println!("{seconds:.3} s, {speed:.1} million blocks a second ({check:x})");
    if let Some(path) = trace {
        write(&program, segment, &path)?;
    }
    Ok(())
}

/// Writes the addresses of all instructions of a path.
fn write(program: &Program, segment: Segment<'_>, path: &str) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut last = 0..0;
    let mut failed = Ok(());
    let mut lines = |from: u64, to: u64| {
        for address in (from..to).step_by(4) {
            if let Err(error) = writeln!(file, "{address:x}") {
                failed = Err(error);
            }
        }
    };
    replay(program, &[segment], Limits::default(), |it| match it {
        Event::Block { start, end } => {
            lines(last.start, last.end);
            last = start..end;
        }
        Event::Loop { start, end, times } => {
            lines(last.start, start);
            (0..times).for_each(|_| lines(start, end));
            last.start = end;
        }
    })?;
    lines(last.start, last.end);
    failed?;
    Ok(file.flush()?)
}
