// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocks, made of words once it is known where they begin.

use super::last;
use crate::graph::{Exit, Link, Mark, Node, Number};
use crate::instruction::{Flow, Instruction, LINK};
use crate::scan::{EXIT, FINISH, Scan, Word};
use crate::template::Kind;
use crate::text::Text;

/// Makes blocks of words, once it is known where they begin.
pub struct Blocks<'a> {
    text: &'a Text,
    scan: &'a Scan,
    leads: &'a [bool],
    starts: &'a [bool],
    /// For each word the number of its block.
    pub numbers: Vec<Number>,
}

impl<'a> Blocks<'a> {
    /// Numbers the blocks.
    pub fn new(text: &'a Text, scan: &'a Scan, leads: &'a [bool], starts: &'a [bool]) -> Self {
        let mut count = 0;
        let numbers = leads.iter().map(|&leads| {
            count += Number::from(leads);
            count.saturating_sub(1)
        });
        Self {
            text,
            scan,
            leads,
            starts,
            numbers: numbers.collect(),
        }
    }

    /// Makes all blocks.
    pub fn all(&self) -> Vec<Node> {
        let leads = self.leads.iter().enumerate();
        leads.filter(|it| *it.1).map(|it| self.node(it.0)).collect()
    }

    fn node(&self, start: usize) -> Node {
        let mut node = Node {
            start,
            end: start,
            bits: 0,
            flush: 0,
            marks: Vec::new(),
            sum: 0,
            link: Link::Kept,
            exit: Exit::Stop,
            starts: self.starts[start],
        };
        loop {
            let at = node.end;
            let ends = match self.scan.words[at] {
                Word::Plain(instruction) => self.plain(&mut node, at, instruction),
                Word::Template(_) => self.template(&mut node, at),
            };
            if let Some(exit) = ends {
                node.exit = exit;
                return node;
            }
            match self.leads.get(node.end) {
                Some(false) => {}
                Some(true) => {
                    node.exit = Exit::Next(self.numbers[node.end]);
                    return node;
                }
                // Behind the last word, which is no instruction.
                None => return node,
            }
        }
    }

    fn plain(&self, node: &mut Node, at: usize, instruction: Instruction) -> Option<Exit> {
        node.end = at + 1;
        if instruction.writes.has(LINK) && !matches!(instruction.flow, Flow::Call(_)) {
            node.link = Link::Changed;
        }
        self.exit(at, at, instruction.flow)
    }

    fn template(&self, node: &mut Node, at: usize) -> Option<Exit> {
        let template = self.scan.template(at)?;
        node.end = template.end;
        match template.kind {
            Kind::Region { bits, flush } => {
                node.bits = bits;
                node.flush = flush;
            }
            // No block of the program: the start of its region stands for it.
            Kind::Flush { .. } => return Some(Exit::Stop),
            Kind::Edge(number) => {
                node.marks.push(Mark::Edge { at, number });
                node.sum = node.sum.saturating_add(number);
            }
            Kind::Link => {
                node.marks.push(Mark::Link { record: at });
                node.link = Link::Recorded;
            }
            Kind::Count(count) => {
                node.marks.push(Mark::Count(count));
                let mut body = self.text.words()[count.block..count.behind].iter();
                let changes =
                    |&it: &u32| Instruction::decode(it).is_none_or(|it| it.writes.has(LINK));
                if body.any(changes) {
                    node.link = Link::Changed;
                }
            }
            Kind::Indirect => {
                let flow = last(self.text, template).flow;
                if let Flow::IndirectBranch(LINK) | Flow::IndirectCall(LINK) = flow {
                    node.link = Link::Recorded;
                }
                return self.exit(template.end - 1, at, flow);
            }
        }
        None
    }

    /// Says how the program goes on behind a word. `None`: at the next one.
    fn exit(&self, at: usize, record: usize, flow: Flow) -> Option<Exit> {
        match flow {
            Flow::Next => None,
            Flow::Supervisor(number) if number != EXIT && number != FINISH => None,
            // Whatever leads out of the text was refused before.
            _ => Some(self.leaves(at, record, flow).unwrap_or(Exit::Stop)),
        }
    }

    fn leaves(&self, at: usize, record: usize, flow: Flow) -> Option<Exit> {
        let next = self.numbers.get(at + 1).copied();
        let to = |distance| self.text.at(at, distance).map(|it| self.numbers[it]);
        Some(match flow {
            Flow::Supervisor(FINISH) => Exit::Finish,
            Flow::Next | Flow::Supervisor(_) | Flow::Stop | Flow::Branch(0) => Exit::Stop,
            Flow::Branch(distance) => Exit::Next(to(distance)?),
            Flow::Conditional(distance) => Exit::Branch(to(distance)?, next?),
            Flow::Call(distance) => Exit::Call(to(distance)?, next?),
            Flow::IndirectCall(_) => Exit::IndirectCall {
                record,
                back: next?,
            },
            Flow::IndirectBranch(_) => Exit::IndirectBranch { record },
            Flow::Return => Exit::Return,
        })
    }
}
