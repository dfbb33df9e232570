// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask flow decode`.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result, ensure};
use donjon_flow_check::{Event, Limits, Program, replay};

use super::{DecodeArguments, OUTCOME, TRANSCRIPT};
use crate::execute::Outcome;
use crate::fold::{Folded, fold};
use crate::proof::proved;

/// Prints the path of a log; 1 if the program cannot have taken it.
pub fn run(arguments: &DecodeArguments) -> Result<u8> {
    let program = proved(&arguments.program)?;
    let file = arguments.folder.join(OUTCOME);
    ensure!(
        file.exists() || !arguments.folder.join(TRANSCRIPT).exists(),
        "{} is a run that `donjon-run --flow` kept: it is for `cargo xtask verify`",
        arguments.folder.display()
    );
    let bytes = fs::read(&file).with_context(|| format!("opening {}", file.display()))?;
    let outcome = Outcome::parse(&bytes).with_context(|| file.display().to_string())?;
    let segments = [outcome.segment(&program)?];
    let limits = Limits {
        blocks: arguments.max_blocks,
        ..Limits::default()
    };
    let has_blocks = arguments.blocks || arguments.lines;
    let mut places = Places {
        program: &program,
        has_lines: arguments.lines,
        known: HashMap::new(),
    };
    let mut functions = Functions::new(&program);
    let mut out = BufWriter::new(io::stdout().lock());
    let mut written = Ok(());
    let replayed = replay(&program, &segments, limits, |event| {
        if !has_blocks {
            functions.add(event);
        } else if written.is_ok() {
            written = places.block(&mut out, event);
        }
    });
    written.context("writing the path")?;
    if !has_blocks {
        functions.print(&mut out).context("writing the path")?;
    }
    out.flush().context("writing the path")?;
    match replayed {
        Ok(totals) => {
            eprintln!(
                "{} blocks, {} calls, at most {} within each other, {} words of log",
                totals.blocks,
                totals.calls,
                totals.depth,
                outcome.log.len()
            );
            Ok(0)
        }
        Err(failure) => {
            eprintln!("rejected: {failure}");
            Ok(1)
        }
    }
}

/// Places of blocks, each looked up once.
struct Places<'a> {
    program: &'a Program,
    has_lines: bool,
    known: HashMap<u64, String>,
}

impl Places<'_> {
    fn block(&mut self, out: &mut impl Write, event: Event) -> io::Result<()> {
        let (start, times) = match event {
            Event::Block { start, .. } => (start, None),
            Event::Loop { start, times, .. } => (start, Some(times)),
        };
        let names = self.program.names();
        let place = self.known.entry(start).or_insert_with(|| {
            let place = if self.has_lines {
                names.located(start)
            } else {
                names.of(start)
            };
            place.unwrap_or_default()
        });
        match times {
            None => writeln!(out, "{start:#x} {place}"),
            Some(times) => writeln!(out, "{start:#x} {place} {times} times"),
        }
    }
}

/// The functions of a path, in order: one entry each time that another function goes on.
struct Functions<'a> {
    program: &'a Program,
    names: Vec<String>,
    /// By the address where a function begins, where the next one begins, and its number.
    known: BTreeMap<u64, (u64, usize)>,
    path: Vec<usize>,
}

impl<'a> Functions<'a> {
    fn new(program: &'a Program) -> Self {
        Self {
            program,
            names: Vec::new(),
            known: BTreeMap::new(),
            path: Vec::new(),
        }
    }

    fn add(&mut self, event: Event) {
        let Event::Block { start, .. } = event else {
            return;
        };
        let number = self.number(start);
        if self.path.last() != Some(&number) {
            self.path.push(number);
        }
    }

    /// The number of the function that an address is in.
    fn number(&mut self, address: u64) -> usize {
        let before = self.known.range(..=address).next_back();
        if let Some((_, &(end, number))) = before
            && address < end
        {
            return number;
        }
        let function = self.program.function(address);
        let number = self.names.len();
        self.names.push(function.name);
        self.known.insert(function.start, (function.end, number));
        number
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        for Folded { items, times } in fold(&self.path) {
            let names: Vec<_> = items.iter().map(|it| self.names[*it].as_str()).collect();
            let names = names.join(" → ");
            if times == 1 {
                writeln!(out, "{names}")?;
            } else {
                writeln!(out, "{names}, {times} times")?;
            }
        }
        Ok(())
    }
}
