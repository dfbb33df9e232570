// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk itself: from region to region.

use donjon_flow_chain::{COUNT_START, Kind};

use super::log::{Ahead, Log};
use super::stop::{Stop, template};
use super::table::Table;
use super::{Event, Failure, Fault, Limits, Segment, Totals};
use crate::graph::{Exit, Graph, Mark, Number};
use crate::program::Program;
use crate::template::{Count, LENGTH, Template};

/// Highest number that the sentinel in x28 may have as a bit.
const TOP: u32 = 62;

/// Path bits, as they will be when they are written.
#[derive(Clone, Copy, Debug)]
struct Batch {
    /// The word, or x28 at the end of the log.
    word: u64,
    /// Bits below its sentinel.
    all: u32,
    /// Bits that the walk has used.
    used: u32,
    /// Whether it is x28 at the end of the log.
    last: bool,
}

impl Batch {
    fn new(word: u64, last: bool) -> Self {
        Self {
            word,
            all: word.checked_ilog2().unwrap_or(0),
            used: 0,
            last,
        }
    }

    /// Returns x28 as it is before the next bits.
    fn path(&self) -> u64 {
        self.word >> (self.all - self.used)
    }
}

/// Where the walk is.
pub struct Walk<'a, E> {
    program: &'a Program,
    segments: &'a [Segment<'a>],
    limits: Limits,
    each: E,
    log: Log<'a>,
    ahead: Ahead,
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
    /// Number of the word to name if a step is wrong.
    at: usize,
}

impl<'a, E: FnMut(Event)> Walk<'a, E> {
    /// Begins at the entry of a program.
    pub fn new(
        program: &'a Program,
        segments: &'a [Segment<'a>],
        limits: Limits,
        each: E,
    ) -> Result<Self, Failure> {
        let (text, nodes) = (&program.text, &program.graph.nodes);
        let end = segments.last().map(|it| it.end);
        let mut walk = Self {
            program,
            segments,
            limits,
            each,
            log: Log::new(segments),
            ahead: Ahead::new(),
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
            at: program.graph.node(program.graph.entry).start,
        };
        walk.tables.resize_with(nodes.len(), || None);
        if walk.end == 0 || walk.end > i64::MAX as u64 {
            return Err(walk.failure(Fault::NoLog));
        }
        walk.refill();
        Ok(walk)
    }

    /// Walks to the end of the log.
    pub fn run(mut self) -> Result<Totals, Failure> {
        let mut number = self.program.graph.entry;
        loop {
            match self.region(number) {
                Ok(Some(next)) => number = next,
                Ok(None) => return Ok(self.totals),
                Err(fault) => return Err(self.failure(fault)),
            }
        }
    }

    fn failure(&self, fault: Fault) -> Failure {
        let name = |it| self.program.place(it);
        let address = self.program.text.address(self.at);
        Failure {
            segment: self.log.place.segment,
            word: self.log.place.word,
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
    fn refill(&mut self) {
        self.batch = match self.ahead.next(self.segments) {
            Some(word) => Batch::new(word, false),
            None => Batch::new(self.end, true),
        };
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

    /// Walks through the template at the start of a region. `true`: the log ends in it.
    fn start(&mut self, number: Number) -> Result<bool, Fault> {
        let node = self.graph().node(number);
        let (words, bits) = (node.start..node.start + template(node), node.bits);
        let (flush, back) = (node.flush, words.end - 1);
        if self.batch.used + bits > TOP {
            if self.is_over() && self.stopped_in(node.start..back) {
                return Ok(true);
            }
            if self.flush(flush)? {
                return Ok(true);
            }
            if self.is_over() && (self.stopped_in(back..words.end)) {
                return Ok(true);
            }
        } else if self.is_over() && self.stopped_in(words) {
            return Ok(true);
        }
        if self.batch.used + bits > self.batch.all {
            return Err(if self.batch.last {
                Fault::Missing
            } else {
                Fault::Flush
            });
        }
        Ok(false)
    }

    /// Walks through a flush. `true`: the log ends in it.
    fn flush(&mut self, flush: usize) -> Result<bool, Fault> {
        if self.batch.used != self.batch.all {
            return Err(Fault::Flush);
        }
        if self.batch.last {
            let stopped = self.log.left == 0 && self.stopped_in(flush..flush + 1);
            return if stopped {
                Ok(true)
            } else {
                Err(Fault::Missing)
            };
        }
        let full = self.batch.word;
        if self.take(flush, full)? != full {
            return Err(Fault::Flush);
        }
        let unchanged = self.end == full && self.stopped_in(flush + 1..flush + LENGTH + 1);
        if self.log.left == 0 && unchanged {
            return Ok(true);
        }
        self.refill();
        let back = flush + LENGTH + 1;
        Ok(self.is_over() && self.stopped_in(back..back + 1))
    }

    /// Takes the word that the record at a word of the text wrote, with this value of x28.
    fn take(&mut self, record: usize, path: u64) -> Result<u64, Fault> {
        let text = &self.program.text;
        let is_record = |pc| {
            let found = text.index(pc).map(|it| Template::stores(text.words()[it]));
            found.unwrap_or(false)
        };
        self.at = record;
        self.log.take(text.address(record), || path, is_record)
    }

    /// Walks the path of a region with a sum. `None`: the log ends on it.
    fn along(&mut self, table: &Table, base: u64, sum: u64) -> Result<Option<Number>, Fault> {
        let ends =
            self.batch.last && self.batch.used == self.batch.all && self.log.left <= table.words;
        if ends && let Some(stop) = self.stop {
            let (graph, left) = (self.graph(), self.log.left);
            let on = |path| Some((path, stop.on(graph, path, sum, left)?));
            if let Some((path, begun)) = table.all().find_map(on) {
                return self.part(&path[..begun], base, stop);
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
    fn part(&mut self, path: &[Number], mut now: u64, stop: Stop) -> Result<Option<Number>, Fault> {
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
            address(self.take(record, now)?)?;
        }
        Ok(None)
    }

    fn block(&mut self, number: Number) -> Result<(), Fault> {
        let (start, end) = self.blocks[number as usize];
        (self.each)(Event::Block { start, end });
        self.totals.blocks += 1;
        self.begun += 1;
        if self.begun > self.limits.blocks {
            self.at = self.graph().node(number).start;
            return Err(Fault::Long);
        }
        Ok(())
    }

    /// Does what happens in a block before a word of it, and returns x28.
    fn marks(&mut self, number: Number, mut now: u64, end: usize) -> Result<u64, Fault> {
        for mark in &self.graph().node(number).marks {
            match *mark {
                Mark::Edge { at, number } if at < end => now += u64::from(number),
                Mark::Link { record } if record < end => {
                    self.link = address(self.take(record, now)?)?;
                }
                Mark::Count(count) if count.record < end => {
                    let word = self.take(count.record, now)?;
                    self.count(count, word)?;
                }
                _ => {}
            }
        }
        Ok(now)
    }

    fn count(&mut self, count: Count, word: u64) -> Result<(), Fault> {
        if word < COUNT_START {
            return Err(Fault::Kind(word));
        }
        let times = count.rounds(word).ok_or(Fault::Count(word))?;
        let text = &self.program.text;
        (self.each)(Event::Loop {
            start: text.address(count.block),
            end: text.address(count.behind),
            times,
        });
        self.totals.blocks += u128::from(times);
        Ok(())
    }

    /// Leaves a region behind a block that no other block follows.
    fn leave(&mut self, last: Number, now: u64) -> Result<Option<Number>, Fault> {
        let node = self.graph().node(last);
        self.at = node.end - 1;
        match node.exit {
            Exit::Call(to, back) => self.call(to, back),
            Exit::IndirectCall { record, back } => {
                let to = self.pointer(record, now)?;
                self.call(to, back)
            }
            Exit::IndirectBranch { record } => self.pointer(record, now).map(Some),
            Exit::Return => self.back().map(Some),
            _ => Err(Fault::End),
        }
    }

    fn call(&mut self, to: Number, back: Number) -> Result<Option<Number>, Fault> {
        if self.calls.len() >= self.limits.depth {
            return Err(Fault::Deep);
        }
        self.calls.push(back);
        self.link = self.blocks[back as usize].0;
        self.totals.calls += 1;
        self.totals.depth = self.totals.depth.max(self.calls.len());
        Ok(Some(to))
    }

    fn pointer(&mut self, record: usize, now: u64) -> Result<Number, Fault> {
        let to = address(self.take(record, now)?)?;
        let word = self.program.text.index(to);
        let node = word.and_then(|it| self.graph().starting(it));
        let pointed = node.filter(|&it| self.graph().pointed[it as usize]);
        pointed.ok_or(Fault::Target(to))
    }

    fn back(&mut self) -> Result<Number, Fault> {
        let open = self.calls.last().copied();
        let expected = open.map(|it| self.blocks[it as usize].0);
        match open {
            Some(back) if expected == Some(self.link) => {
                self.calls.pop();
                Ok(back)
            }
            _ => Err(Fault::Return {
                to: self.link,
                expected,
            }),
        }
    }
}

/// Returns a word that has to be an address.
fn address(word: u64) -> Result<u64, Fault> {
    match Kind::of(word) {
        Some(Kind::Address) => Ok(word),
        _ => Err(Fault::Kind(word)),
    }
}
