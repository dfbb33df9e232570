// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where blocks and regions begin, and that nothing leads into a template.

use super::last;
use crate::instruction::Flow;
use crate::refusal::{Reason, Refusal};
use crate::scan::{EXIT, FINISH, Scan, Word};
use crate::template::Kind;
use crate::text::Text;

/// Where blocks and regions begin.
pub struct Edges<'a> {
    pub text: &'a Text,
    pub scan: &'a Scan,
    pub leads: Vec<bool>,
    pub starts: Vec<bool>,
    pub refusals: &'a mut Vec<Refusal>,
}

impl Edges<'_> {
    fn refuse(&mut self, at: usize, reason: Reason) {
        self.refusals
            .push(Refusal::new(self.text.address(at), reason));
    }

    /// Adds an address that the program's file names.
    pub fn named(&mut self, address: u64) -> Option<usize> {
        let at = self
            .text
            .index(address)
            .filter(|&it| self.scan.may_enter(it));
        match at {
            Some(at) => {
                self.leads[at] = true;
                self.starts[at] = true;
            }
            None => self.refusals.push(Refusal::new(address, Reason::Target)),
        }
        at
    }

    /// Adds all ways from word to word.
    pub fn collect(&mut self) {
        self.leads[0] = true;
        let mut at = 0;
        while at < self.scan.words.len() {
            at = match self.scan.words[at] {
                Word::Plain(instruction) => {
                    self.flow(at, instruction.flow);
                    at + 1
                }
                Word::Template(_) => self.template(at),
            };
        }
    }

    fn template(&mut self, at: usize) -> usize {
        let Some(&template) = self.scan.template(at) else {
            return at + 1;
        };
        match template.kind {
            Kind::Region { .. } => {
                self.leads[template.start] = true;
                self.starts[template.start] = true;
                self.fall(template.end - 1);
            }
            Kind::Flush { .. } => {
                self.leads[template.start] = true;
                self.lead(template.end);
            }
            Kind::Indirect => self.flow(template.end - 1, last(self.text, &template).flow),
            Kind::Link | Kind::Count(_) | Kind::Edge(_) => self.fall(template.end - 1),
        }
        template.end
    }

    fn lead(&mut self, at: usize) {
        if let Some(it) = self.leads.get_mut(at) {
            *it = true;
        }
    }

    /// Adds the way from a word to the next one. Behind the last word there is none.
    fn fall(&mut self, from: usize) {
        let to = from + 1;
        if to < self.scan.words.len() {
            self.enter(from, to);
        }
    }

    fn enter(&mut self, from: usize, to: usize) {
        if !self.scan.may_enter(to) {
            let from = self.text.address(from);
            self.refuse(to, Reason::Inside(from));
        }
    }

    fn flow(&mut self, at: usize, flow: Flow) {
        match flow {
            Flow::Supervisor(EXIT | FINISH) | Flow::Stop | Flow::Return => {}
            Flow::IndirectBranch(_) => {}
            Flow::Next | Flow::Supervisor(_) => return self.fall(at),
            Flow::Branch(distance) => self.jump(at, distance, false),
            Flow::Conditional(distance) => {
                self.jump(at, distance, false);
                self.fall(at);
            }
            Flow::Call(distance) => {
                self.jump(at, distance, true);
                self.call(at);
            }
            Flow::IndirectCall(_) => self.call(at),
        }
        self.lead(at + 1);
    }

    /// Adds the way back from a call.
    fn call(&mut self, at: usize) {
        self.fall(at);
        if let Some(it) = self.starts.get_mut(at + 1) {
            *it = true;
        }
    }

    fn jump(&mut self, at: usize, distance: i64, call: bool) {
        let Some(to) = self.text.at(at, distance) else {
            return self.refuse(at, Reason::Outside);
        };
        self.enter(at, to);
        self.leads[to] = true;
        self.starts[to] |= call;
    }
}
