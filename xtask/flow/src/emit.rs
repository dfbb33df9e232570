// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes a function with its templates.

use anyhow::{Result, ensure};

use crate::block::{Block, End, Item};
use crate::counted::Counted;
use crate::link::{Load, by_another};
use crate::plan::Plan;
use crate::reach;
use crate::region::is_only;
use crate::template;
use crate::unit::LABELS;

/// A statement of the rewritten text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Out {
    /// An instruction.
    Code(String),
    /// A label.
    Label(String),
    /// A directive.
    Mark(String),
}

/// Numbers the labels of a file.
#[derive(Debug, Default)]
pub struct Labels(usize);

impl Labels {
    fn new_label(&mut self) -> String {
        self.0 += 1;
        format!("{LABELS}{}", self.0)
    }
}

/// Writes a function.
///
/// # Errors
///
/// If it is so long that branches would not reach, or a load of x30 cannot be made another way.
pub fn emit(plan: &Plan, labels: &mut Labels) -> Result<String> {
    let mut out = Emitter::new(plan, labels, false).function()?;
    if reach::size(&out) > reach::NEAR {
        out = Emitter::new(plan, labels, true).function()?;
        reach::turn_round(&mut out, &mut || labels.new_label());
    }
    ensure!(
        reach::size(&out) < reach::FAR,
        "function {} is longer than conditional branches reach; split it",
        plan.name
    );
    let mut text = String::new();
    for it in out {
        match it {
            Out::Code(it) => text += &format!("\t{it}\n"),
            Out::Label(it) => text += &format!("{it}:\n"),
            Out::Mark(it) => text += &format!("{it}\n"),
        }
    }
    text += &format!("\t.size\t{0}, .-{0}\n", plan.name);
    Ok(text)
}

/// Code between an edge's branch and its target.
struct Trampoline {
    to: usize,
    number: u64,
    label: String,
    /// The mark of the branch's line.
    line: Option<String>,
    falls: bool,
}

struct Emitter<'a> {
    plan: &'a Plan,
    labels: &'a mut Labels,
    is_far: bool,
    /// The mark of the line at the end of each block.
    lines: Vec<Option<String>>,
    trampolines: Vec<Trampoline>,
    out: Vec<Out>,
    behind: Vec<Out>,
}

impl<'a> Emitter<'a> {
    fn new(plan: &'a Plan, labels: &'a mut Labels, is_far: bool) -> Self {
        Self {
            plan,
            labels,
            is_far,
            lines: lines(plan),
            trampolines: Vec::new(),
            out: Vec::new(),
            behind: Vec::new(),
        }
    }

    fn function(mut self) -> Result<Vec<Out>> {
        let plan = self.plan;
        // Where each taken branch with a number leads, by block.
        let targets: Vec<_> = (0..plan.blocks.len()).map(|it| self.target(it)).collect();
        for (index, target) in targets.into_iter().enumerate() {
            self.head(index);
            self.body(index)?;
            self.end(index, target);
        }
        if plan.blocks.last().is_some_and(Block::goes_on) {
            self.code("brk #1000");
        }
        for it in std::mem::take(&mut self.trampolines) {
            if !it.falls {
                self.behind.extend(it.line.map(Out::Mark));
                self.behind.push(Out::Label(it.label));
                self.behind.push(Out::Code(template::edge(it.number)));
                let jump = format!("b {}", plan.blocks[it.to].labels[0]);
                self.behind.push(Out::Code(jump));
            }
        }
        self.out.append(&mut self.behind);
        let tail = plan.blocks.last().map(|it| it.tail.iter());
        let tail = tail.into_iter().flatten().cloned();
        self.out.extend(tail.map(Out::Mark));
        Ok(self.out)
    }

    /// The label that the branch at a block's end needs in place of its own.
    fn target(&mut self, index: usize) -> Option<String> {
        let plan = self.plan;
        let End::Branch(_, to) = plan.blocks[index].end else {
            return None;
        };
        let number = plan.numbers.edges[index][0];
        let has_own = plan.counted[index].is_some() || is_only(&plan.blocks, &plan.paths, to);
        if number == 0 || has_own {
            return None;
        }
        let mut known = self.trampolines.iter();
        if let Some(it) = known.find(|it| it.to == to && it.number == number) {
            return Some(it.label.clone());
        }
        let is_free = !self.trampolines.iter().any(|it| it.to == to && it.falls);
        let falls = is_free && to > 0 && !plan.blocks[to - 1].goes_on();
        let label = self.labels.new_label();
        self.trampolines.push(Trampoline {
            to,
            number,
            label: label.clone(),
            line: self.lines[index].clone(),
            falls,
        });
        Some(label)
    }

    fn head(&mut self, index: usize) {
        let plan = self.plan;
        let block = &plan.blocks[index];
        self.out
            .extend(block.alignment.iter().cloned().map(Out::Mark));
        let mut falling = self.trampolines.iter();
        if let Some(it) = falling.find(|it| it.to == index && it.falls) {
            self.out.push(Out::Label(it.label.clone()));
            self.out.push(Out::Code(template::edge(it.number)));
        }
        self.out
            .extend(block.labels.iter().cloned().map(Out::Label));
        // Before the template, so that its instructions have the line of the block.
        self.out.extend(block.front().cloned().map(Out::Mark));
        if let Some(number) = self.number_at_head(index) {
            self.code(template::edge(number));
        }
        let bits = plan.bits(index);
        if bits > 0 {
            self.start(index, bits);
        }
    }

    /// The number of the only edge to a block, if that is a taken branch.
    fn number_at_head(&self, index: usize) -> Option<u64> {
        let plan = self.plan;
        if !is_only(&plan.blocks, &plan.paths, index) {
            return None;
        }
        let mut blocks = plan.blocks.iter().enumerate();
        let from = blocks.find(|(from, it)| {
            matches!(it.end, End::Branch(_, to) if to == index) && plan.counted[*from].is_none()
        })?;
        Some(plan.numbers.edges[from.0][0]).filter(|&it| it > 0)
    }

    fn start(&mut self, index: usize, bits: u32) {
        let bits = if self.is_far { bits.max(2) } else { bits };
        let (flush, back) = (self.labels.new_label(), self.labels.new_label());
        for it in template::room(bits, &flush) {
            self.code(it);
        }
        self.out.push(Out::Label(back.clone()));
        self.code(template::shift(bits));
        let before = || self.lines[index.checked_sub(1)?].clone();
        let line = self.plan.blocks[index]
            .front()
            .filter(|it| is_line(it))
            .last()
            .cloned();
        self.behind.extend(line.or_else(before).map(Out::Mark));
        self.behind.push(Out::Label(flush));
        let lines = template::flush(&back).into_iter();
        self.behind.extend(lines.map(Out::Code));
    }

    fn body(&mut self, index: usize) -> Result<()> {
        let plan = self.plan;
        if let Some(it) = plan.counted[index] {
            self.code(template::count_from(it.register, it.is_wide));
            self.out.push(Out::Label(self.loop_label(index)));
        }
        let mut loads = plan.loads[index].iter();
        let front = plan.blocks[index].front().count();
        for item in &plan.blocks[index].items[front..] {
            match item {
                Item::Mark(it) => self.out.push(Out::Mark(it.clone())),
                Item::Instruction(it) => match loads.next().copied().flatten() {
                    None => self.code(it.to_string()),
                    Some(Load::Return) => {
                        self.code(it.to_string());
                        self.record(crate::assembly::LINK);
                    }
                    Some(Load::Data) => by_another(it)?.into_iter().for_each(|it| self.code(it)),
                },
            }
        }
        Ok(())
    }

    fn end(&mut self, index: usize, target: Option<String>) {
        let plan = self.plan;
        match &plan.blocks[index].end {
            End::Fall => {}
            End::Jump(to) => self.code(format!("b {}", plan.blocks[*to].labels[0])),
            End::Branch(it, to) => {
                let mut it = it.clone();
                let own = plan.blocks[*to].labels[0].clone();
                let counted = plan.counted[index];
                let label = counted.map(|_| self.loop_label(index)).or(target);
                if let Some(last) = it.operands.last_mut() {
                    *last = label.unwrap_or(own);
                }
                self.code(it.to_string());
                if let Some(it) = counted {
                    self.count(it);
                } else if let Some(&number @ 1..) = plan.numbers.edges[index].get(1) {
                    self.code(template::edge(number));
                }
            }
            End::CallRegister(it, register) | End::JumpRegister(it, register) => {
                self.record(*register);
                self.code(it.to_string());
            }
            End::Call(it, _) | End::Leave(it, _) | End::Return(it) | End::Trap(it) => {
                self.code(it.to_string());
            }
        }
        if plan.endless[index] {
            self.code("brk #1000");
        }
    }

    fn count(&mut self, it: Counted) {
        for it in template::count(it.register, it.is_wide, it.is_up) {
            self.code(it);
        }
    }

    fn record(&mut self, register: u8) {
        for it in template::record(register) {
            self.code(it);
        }
    }

    /// The label behind the start of a counted loop's count.
    fn loop_label(&self, index: usize) -> String {
        format!("{LABELS}loop_{}_{index}", self.plan.name)
    }

    fn code(&mut self, text: impl Into<String>) {
        self.out.push(Out::Code(text.into()));
    }
}

/// Tells whether a mark says which line follows.
fn is_line(mark: &str) -> bool {
    mark.starts_with("\t.loc\t")
}

/// Finds the mark of the line at the end of each block.
fn lines(plan: &Plan) -> Vec<Option<String>> {
    let mut now = None;
    let of = |block: &Block| {
        for item in &block.items {
            if let Item::Mark(mark) = item
                && is_line(mark)
            {
                now = Some(mark.clone());
            }
        }
        now.clone()
    };
    plan.blocks.iter().map(of).collect()
}
