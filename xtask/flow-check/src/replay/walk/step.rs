// SPDX-License-Identifier: MIT OR Apache-2.0
//! What happens within blocks: words of counts and of x30.

use donjon_flow_chain::COUNT_START;

use super::{Walk, address};
use crate::graph::{Mark, Number};
use crate::replay::{Event, Fault};
use crate::template::{Count, Template};

impl Walk<'_> {
    /// Takes the word that the record at a word of the text wrote, with this value of x28.
    pub fn take(&mut self, record: usize, path: u64) -> Result<u64, Fault> {
        let text = &self.program.text;
        let is_record = |pc| {
            let found = text.index(pc).map(|it| Template::stores(text.words()[it]));
            found.unwrap_or(false)
        };
        self.at = record;
        self.log.take(text.address(record), || path, is_record)
    }

    pub fn block(&mut self, number: Number) -> Result<(), Fault> {
        let (start, end) = self.blocks[number as usize];
        let called = std::mem::take(&mut self.called);
        if !self.quiet {
            (self.each)(Event::Block { start, end, called });
            self.totals.blocks += 1;
        }
        self.begun += 1;
        if self.begun > self.limits.blocks {
            self.at = self.graph().node(number).start;
            return Err(Fault::Long);
        }
        Ok(())
    }

    /// Does what happens in a block before a word of it, and returns x28.
    pub fn marks(&mut self, number: Number, mut now: u64, end: usize) -> Result<u64, Fault> {
        for mark in &self.graph().node(number).marks {
            match *mark {
                Mark::Edge { at, number } if at < end => now += u64::from(number),
                Mark::Link { record } if record < end => {
                    let to = address(self.take(record, now)?)?;
                    let open = self.calls.last();
                    let expected = open.map(|&it| self.blocks[it as usize].0);
                    // At once, and not at the return: a program that went astray may come back
                    // here, and change what the bits say before any return uses the address.
                    if expected != Some(to) {
                        return Err(Fault::Return { to, expected });
                    }
                    self.link = to;
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
        if self.quiet {
            return Ok(());
        }
        let text = &self.program.text;
        (self.each)(Event::Loop {
            start: text.address(count.block),
            end: text.address(count.behind),
            times,
        });
        self.totals.blocks += u128::from(times);
        Ok(())
    }
}
