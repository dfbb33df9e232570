// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls, returns and indirect branches.

use super::{Walk, address};
use crate::graph::{Exit, Number};
use crate::replay::Fault;

impl Walk<'_> {
    /// Leaves a region behind a block that no other block follows.
    pub fn leave(&mut self, last: Number, now: u64) -> Result<Option<Number>, Fault> {
        let node = self.graph().node(last);
        self.at = node.end - 1;
        match node.exit {
            Exit::Call(to, back) => self.call(to, back),
            Exit::IndirectCall { record, back } => {
                let to = self.pointer(record, now)?;
                self.call(to, back)
            }
            Exit::IndirectBranch { record } => {
                let to = self.pointer(record, now)?;
                self.called = true;
                Ok(Some(to))
            }
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
        self.called = true;
        if !self.quiet {
            self.totals.calls += 1;
            self.totals.depth = self.totals.depth.max(self.calls.len());
        }
        Ok(Some(to))
    }

    pub fn pointer(&mut self, record: usize, now: u64) -> Result<Number, Fault> {
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
