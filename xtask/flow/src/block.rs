// SPDX-License-Identifier: MIT OR Apache-2.0
//! Basic blocks of a function, and how each of them ends.

use std::collections::{HashMap, HashSet};

use anyhow::{Context, Result, bail, ensure};

use crate::assembly::{Class, Instruction, Kind, LINK, identifiers, number};
use crate::unit::{Function, Unit};

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Goes on with the next block.
    Fall,
    /// Jumps to a block of this function.
    Jump(usize),
    /// Jumps to a block of this function if a condition holds, else it goes on.
    Branch(Instruction, usize),
    /// Calls a function by its name, and goes on behind the call.
    Call(Instruction, String),
    /// Calls the function in a register, and goes on behind the call.
    CallRegister(Instruction, u8),
    /// Jumps to another function.
    Leave(Instruction, String),
    /// Jumps to the address in a register.
    JumpRegister(Instruction, u8),
    /// Returns.
    Return(Instruction),
    /// Never goes on.
    Trap(Instruction),
}

/// What stands in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An instruction.
    Instruction(Instruction),
    /// A label that no code leads to, or a mark for debuggers.
    Mark(String),
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// The number of the block's first line.
    pub line: usize,
    /// Directives for the block's alignment.
    pub alignment: Vec<String>,
    /// The block's labels.
    pub labels: Vec<String>,
    /// Whether something else than a branch of this function leads here: it is the entry, or its
    /// address is taken.
    pub is_taken: bool,
    /// What stands in it before its end.
    pub items: Vec<Item>,
    /// Marks behind the function's last instruction, in its last block.
    pub tail: Vec<String>,
    /// How it ends.
    pub end: End,
    /// How often the compiler believes that it runs.
    pub often: Option<u64>,
    /// How often the compiler believes that its branch is taken, and that it is not.
    pub odds: Option<(u64, u64)>,
}

impl Block {
    /// Returns the instructions before its end.
    pub fn instructions(&self) -> impl DoubleEndedIterator<Item = &Instruction> {
        self.items.iter().filter_map(|it| match it {
            Item::Instruction(it) => Some(it),
            Item::Mark(_) => None,
        })
    }

    /// Returns the marks before its first instruction.
    pub fn front(&self) -> impl Iterator<Item = &String> {
        self.items.iter().map_while(|it| match it {
            Item::Mark(it) => Some(it),
            Item::Instruction(_) => None,
        })
    }

    /// Tells whether the text behind it is reached from its end.
    pub fn goes_on(&self) -> bool {
        matches!(
            self.end,
            End::Fall | End::Branch(..) | End::Call(..) | End::CallRegister(..)
        )
    }

    /// Tells whether it ends with a call.
    pub fn calls(&self) -> bool {
        matches!(self.end, End::Call(..) | End::CallRegister(..))
    }
}

/// Returns where each block leads within the function, the taken side of a branch first. A call
/// leads to the block behind it.
pub fn successors(blocks: &[Block]) -> Vec<Vec<usize>> {
    let one = |(index, block): (usize, &Block)| {
        let next = Some(index + 1).filter(|&it| it < blocks.len() && block.goes_on());
        match block.end {
            End::Jump(to) | End::Branch(_, to) => Some(to).into_iter().chain(next).collect(),
            _ => next.into_iter().collect(),
        }
    };
    blocks.iter().enumerate().map(one).collect()
}

/// Splits a function into blocks.
///
/// # Errors
///
/// If it has an instruction that the rewriter does not know; the error names its line.
pub fn split(function: &Function, unit: &Unit) -> Result<Vec<Block>> {
    let mut splitter = Splitter::new(function, unit);
    for line in &function.lines {
        let place = || format!("{}:{}", unit.name, line.number);
        match &line.kind {
            Kind::Label(name) => splitter.label(name, line.number),
            Kind::Directive(name, arguments) => splitter.directive(name, arguments),
            Kind::Instruction(it) => splitter.instruction(it).with_context(place)?,
            Kind::Often(it) => splitter.often = Some(*it),
            Kind::Odds(taken, falls) => splitter.odds = Some((*taken, *falls)),
        }
    }
    splitter
        .finish()
        .with_context(|| format!("{}: function {}", unit.name, function.name))
}

struct Splitter<'a> {
    function: &'a Function,
    targets: HashSet<&'a str>,
    taken: HashSet<&'a str>,
    blocks: Vec<Block>,
    places: HashMap<String, usize>,
    jumps: Vec<(usize, String)>,
    is_open: bool,
    /// Marks between the end of a block and the next one.
    marks: Vec<String>,
    alignment: Vec<String>,
    often: Option<u64>,
    odds: Option<(u64, u64)>,
}

impl<'a> Splitter<'a> {
    fn new(function: &'a Function, unit: &'a Unit) -> Self {
        let mut targets = HashSet::new();
        let mut taken = HashSet::new();
        for line in &function.lines {
            let Kind::Instruction(it) = &line.kind else {
                continue;
            };
            let names = it.operands.iter().flat_map(|it| identifiers(it));
            match it.class() {
                Some(Class::Jump | Class::Branch) => targets.extend(names),
                _ => taken.extend(names),
            }
        }
        taken.extend(unit.taken.iter().map(String::as_str));
        Self {
            function,
            targets,
            taken,
            blocks: Vec::new(),
            places: HashMap::new(),
            jumps: Vec::new(),
            is_open: false,
            marks: Vec::new(),
            alignment: Vec::new(),
            often: None,
            odds: None,
        }
    }

    fn label(&mut self, name: &str, line: usize) {
        let is_entry = name == self.function.name;
        // A function has global names beside its own one only at its entry, by `.set`.
        let is_taken = is_entry || self.taken.contains(name) || !name.starts_with(".L");
        if !is_taken && !self.targets.contains(name) {
            self.mark(format!("{name}:"));
            return;
        }
        // Marks make no block: debug information does not change the text.
        let has_code = |it: &Block| it.instructions().next().is_some();
        let is_new = self.blocks.last().is_none_or(has_code) || !self.is_open;
        if is_new {
            self.open(line);
        }
        let index = self.blocks.len() - 1;
        self.places.insert(name.to_owned(), index);
        self.blocks[index].labels.push(name.to_owned());
        self.blocks[index].is_taken |= is_taken;
    }

    fn directive(&mut self, name: &str, arguments: &str) {
        let text = format!("\t{name}\t{arguments}");
        if matches!(name, ".align" | ".p2align" | ".balign") {
            self.alignment.push(text);
        } else {
            self.mark(text);
        }
    }

    fn mark(&mut self, text: String) {
        match self.blocks.last_mut().filter(|_| self.is_open) {
            Some(block) => block.items.push(Item::Mark(text)),
            None => self.marks.push(text),
        }
    }

    fn instruction(&mut self, it: &Instruction) -> Result<()> {
        if !self.is_open {
            self.open(it.line);
        }
        let Some(class) = it.class() else {
            bail!("the rewriter does not know the instruction {it}");
        };
        let last = it.operands.last().map(String::as_str).unwrap_or_default();
        let register = |text: &str| number(text).map(|(it, _)| it).context("it has no register");
        let end = match class {
            Class::Jump | Class::Branch => {
                ensure!(is_symbol(last), "{it} must lead to a plain label");
                self.jumps.push((self.blocks.len() - 1, last.to_owned()));
                if class == Class::Jump {
                    End::Leave(it.clone(), last.to_owned())
                } else {
                    End::Branch(it.clone(), usize::MAX)
                }
            }
            Class::Call => {
                ensure!(is_symbol(last), "{it} must call a plain symbol");
                End::Call(it.clone(), last.to_owned())
            }
            Class::CallRegister => End::CallRegister(it.clone(), register(last)?),
            Class::JumpRegister => End::JumpRegister(it.clone(), register(last)?),
            Class::Return => {
                ensure!(
                    it.operands.is_empty() || register(last)? == LINK,
                    "{it} returns by another register than x30"
                );
                End::Return(it.clone())
            }
            Class::Trap => End::Trap(it.clone()),
            _ => {
                let loads = it.mnemonic.starts_with("ld") && class != Class::None;
                ensure!(
                    !loads || it.operands.iter().any(|it| it.starts_with('[')),
                    "{it} loads from the text; put constants into .rodata"
                );
                if let Some(block) = self.blocks.last_mut() {
                    block.items.push(Item::Instruction(it.clone()));
                }
                return Ok(());
            }
        };
        if let Some(block) = self.blocks.last_mut() {
            block.odds = self.odds.take().filter(|_| class == Class::Branch);
            block.end = end;
        }
        self.is_open = false;
        Ok(())
    }

    fn open(&mut self, line: usize) {
        let marks = std::mem::take(&mut self.marks);
        self.blocks.push(Block {
            line,
            alignment: std::mem::take(&mut self.alignment),
            labels: Vec::new(),
            is_taken: false,
            items: marks.into_iter().map(Item::Mark).collect(),
            tail: Vec::new(),
            end: End::Fall,
            often: self.often,
            odds: None,
        });
        self.is_open = true;
    }

    fn finish(mut self) -> Result<Vec<Block>> {
        let last = self.blocks.last_mut().context("it has no instruction")?;
        last.tail = self.marks;
        for (from, name) in &self.jumps {
            let to = self.places.get(name).copied();
            let block = &mut self.blocks[*from];
            block.end = match (&block.end, to) {
                (End::Branch(it, _), Some(to)) => End::Branch(it.clone(), to),
                (End::Branch(it, _), None) => {
                    bail!("line {}: {it} leads out of the function", it.line)
                }
                (End::Leave(..), Some(to)) => End::Jump(to),
                (other, _) => other.clone(),
            };
        }
        Ok(self.blocks)
    }
}

fn is_symbol(text: &str) -> bool {
    identifiers(text).next() == Some(text) && number(text).is_none()
}
