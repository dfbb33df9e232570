// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk itself: from region to region.

mod leave;
mod places;
mod start;
mod step;

use donjon_flow_chain::Kind;

use super::batch::Batch;
use super::log::Log;
use super::stop::Stop;
use super::table::Table;
use super::{Ending, Event, Failure, Fault, Limits, Segments, Totals};
use crate::graph::{Exit, Graph, Number};
use crate::program::Program;

/// Where the walk is.
pub struct Walk<'a> {
    program: &'a Program,
    limits: Limits,
    each: &'a mut dyn FnMut(Event),
    log: Log<'a>,
    batch: Batch,
    stop: Option<Stop>,
    /// x28 at the end of the log.
    end: u64,
    tables: Vec<Option<Box<Table>>>,
    /// Addresses of all blocks, and behind them.
    blocks: Vec<(u64, u64)>,
    /// The blocks behind the calls that are open.
    calls: Vec<Number>,
    link: u64,
    begun: u64,
    totals: Totals,
    /// Whether a call or an indirect branch leads to the next block.
    called: bool,
    /// Number of the word to name if a step is wrong.
    at: usize,
    /// Whether the steps are only tried, or behind the place where the path ends.
    quiet: bool,
    /// What is wrong with the first place at which the log does not end.
    wrong: Option<Failure>,
}

impl<'a> Walk<'a> {
    /// Begins at the entry of a program.
    pub fn new(
        program: &'a Program,
        segments: &'a mut dyn Segments,
        limits: Limits,
        each: &'a mut dyn FnMut(Event),
    ) -> Result<Self, Failure> {
        let (text, nodes) = (&program.text, &program.graph.nodes);
        let last = segments.count().checked_sub(1);
        let end = last.map(|it| segments.end(it));
        let mut walk = Self {
            program,
            limits,
            each,
            log: Log::new(segments),
            batch: Batch::new(1, true),
            stop: end.and_then(|it| Stop::of(text, &it)),
            end: end.map_or(0, |it| it.path),
            tables: Vec::new(),
            blocks: nodes
                .iter()
                .map(|it| {
                    let start = text.address(it.start);
                    (start, start + 4 * (it.end - it.start) as u64)
                })
                .collect(),
            calls: Vec::new(),
            link: 0,
            begun: 0,
            totals: Totals::default(),
            called: true,
            at: program.graph.node(program.graph.entry).start,
            quiet: false,
            wrong: None,
        };
        walk.tables.resize_with(nodes.len(), || None);
        if walk.end == 0 || walk.end > i64::MAX as u64 {
            return Err(walk.failure(Fault::NoLog));
        }
        let is_border = |number| {
            let end = walk.log.segments.end(number);
            let is_path = (1..=i64::MAX as u64).contains(&end.path);
            end.how == Ending::Stopped && text.index(end.pc).is_some() && is_path
        };
        if !(0..last.unwrap_or(0)).all(is_border) {
            return Err(walk.failure(Fault::Border));
        }
        match walk.refill() {
            Ok(()) => Ok(walk),
            Err(fault) => Err(walk.failure(fault)),
        }
    }

    /// Walks to the end of the log.
    pub fn run(mut self) -> Result<Totals, Failure> {
        let mut number = self.program.graph.entry;
        loop {
            match self.region(number) {
                Ok(Some(next)) => number = next,
                Ok(None) => {
                    self.totals.places += 1;
                    return Ok(self.totals);
                }
                Err(fault) => return self.past(fault),
            }
        }
    }

    fn failure(&self, fault: Fault) -> Failure {
        let name = |it| self.program.names().located(it);
        let address = self.program.text.address(self.at);
        Failure {
            segment: self.log.place().segment,
            word: self.log.place().word,
            address,
            place: name(address),
            fault,
            named: match fault {
                Fault::Target(to) => [name(to), None],
                Fault::Return { to, expected } => [name(to), expected.and_then(name)],
                _ => [None, None],
            },
        }
    }

    fn graph(&self) -> &'a Graph {
        &self.program.graph
    }

    /// Looks for the path bits that will be written next.
    fn refill(&mut self) -> Result<(), Fault> {
        self.batch = match self.log.bits()? {
            Some(word) => Batch::new(word, false),
            None => Batch::new(self.end, true),
        };
        Ok(())
    }

    /// Says whether the log has nothing behind the bits that were used.
    fn is_over(&self) -> bool {
        self.batch.last && self.log.left == 0 && self.batch.used == self.batch.all
    }

    fn stopped_in(&self, mut words: std::ops::Range<usize>) -> bool {
        self.stop.is_some_and(|it| words.any(|word| word == it.at))
    }

    /// Walks through a region. `None`: the log ends in it.
    fn region(&mut self, number: Number) -> Result<Option<Number>, Fault> {
        let bits = self.graph().node(number).bits;
        self.at = self.graph().node(number).start;
        let before = if bits == 0 {
            self.batch.path()
        } else {
            if self.start(number)? {
                self.block(number)?;
                return Ok(None);
            }
            let before = self.batch.path();
            self.batch.used += bits;
            before
        };
        let sum = self.batch.path() - (before << bits);
        let table = self.tables[number as usize]
            .take()
            .unwrap_or_else(|| Box::new(Table::new(&self.program.graph, number)));
        let next = self.along(&table, before << bits, sum);
        self.tables[number as usize] = Some(table);
        next
    }

    /// Walks the path of a region with a sum. `None`: the log ends on it.
    fn along(&mut self, table: &Table, base: u64, sum: u64) -> Result<Option<Number>, Fault> {
        let ends =
            self.batch.last && self.batch.used == self.batch.all && self.log.left <= table.words;
        if ends && let Some(stop) = self.stop {
            let (graph, left) = (self.graph(), self.log.left);
            let on = |path| Some((path, stop.on(graph, path, sum, left)?));
            if let Some((path, begun)) = table.all().find_map(on) {
                self.ends_on(&path[..begun], base, stop)?;
            }
        }
        let path = table.path(sum);
        let last = path.nodes.last().ok_or(Fault::Path(sum))?;
        let mut now = base;
        for &number in path.nodes {
            self.block(number)?;
            now = self.marks(number, now, usize::MAX)?;
        }
        match path.next {
            Some(next) => Ok(Some(next)),
            None => self.leave(*last, now),
        }
    }

    /// Walks the part of a path on which the log ends.
    fn part(&mut self, path: &[Number], mut now: u64, stop: Stop) -> Result<(), Fault> {
        for (at, &number) in path.iter().enumerate() {
            let end = if at + 1 == path.len() {
                stop.at
            } else {
                usize::MAX
            };
            self.block(number)?;
            now = self.marks(number, now, end)?;
        }
        let exit = path.last().map(|&it| self.graph().node(it).exit);
        if let Some(Exit::IndirectCall { record, .. } | Exit::IndirectBranch { record }) = exit
            && record < stop.at
        {
            self.pointer(record, now)?;
        }
        Ok(())
    }
}

/// Returns a word that has to be an address.
fn address(word: u64) -> Result<u64, Fault> {
    match Kind::of(word) {
        Some(Kind::Address) => Ok(word),
        _ => Err(Fault::Kind(word)),
    }
}
