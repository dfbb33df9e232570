// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes the graph of a text from its words.

use super::{Exit, Graph, Link, Mark, Node, Number};
use crate::instruction::{Flow, Instruction, LINK};
use crate::refusal::{Reason, Refusal};
use crate::scan::{EXIT, FINISH, Scan, Word};
use crate::template::{Kind, Template};
use crate::text::Text;

/// Makes the graph of a text, or adds to `refusals` why there is none.
pub fn build(
    text: &Text,
    scan: &Scan,
    entry: u64,
    targets: &[u64],
    refusals: &mut Vec<Refusal>,
) -> Option<Graph> {
    let before = refusals.len();
    let mut edges = Edges {
        text,
        scan,
        leads: vec![false; scan.words.len()],
        starts: vec![false; scan.words.len()],
        refusals,
    };
    let entry = edges.named(entry);
    let targets: Vec<_> = targets.iter().filter_map(|&it| edges.named(it)).collect();
    edges.collect();
    if edges.refusals.len() > before {
        return None;
    }
    let (leads, starts) = (edges.leads, edges.starts);
    let blocks = Blocks::new(text, scan, &leads, &starts);
    let nodes = blocks.all();
    let mut pointed = vec![false; nodes.len()];
    for target in targets {
        pointed[blocks.numbers[target] as usize] = true;
    }
    Some(Graph {
        nodes,
        entry: blocks.numbers[entry?],
        pointed,
    })
}

/// Where blocks and regions begin.
struct Edges<'a> {
    text: &'a Text,
    scan: &'a Scan,
    leads: Vec<bool>,
    starts: Vec<bool>,
    refusals: &'a mut Vec<Refusal>,
}

impl Edges<'_> {
    fn refuse(&mut self, at: usize, reason: Reason) {
        self.refusals
            .push(Refusal::new(self.text.address(at), reason));
    }

    /// Adds an address that the program's file names.
    fn named(&mut self, address: u64) -> Option<usize> {
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

    fn collect(&mut self) {
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

/// Decodes the last word of a template.
fn last(text: &Text, template: &Template) -> Instruction {
    let word = text.words()[template.end - 1];
    Instruction::decode(word).unwrap_or(Instruction {
        flow: Flow::Stop,
        reads: Default::default(),
        writes: Default::default(),
        step: None,
    })
}

/// Makes blocks of words, once it is known where they begin.
struct Blocks<'a> {
    text: &'a Text,
    scan: &'a Scan,
    leads: &'a [bool],
    starts: &'a [bool],
    numbers: Vec<Number>,
}

impl<'a> Blocks<'a> {
    fn new(text: &'a Text, scan: &'a Scan, leads: &'a [bool], starts: &'a [bool]) -> Self {
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

    fn all(&self) -> Vec<Node> {
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
