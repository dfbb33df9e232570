// SPDX-License-Identifier: MIT OR Apache-2.0
//! A look at each word of a text: templates and ordinary instructions, and nothing else.

use crate::instruction::{Flow, Instruction};
use crate::refusal::{Reason, Refusal};
use crate::registers::Registers;
use crate::template::{CURSOR, Kind, LENGTH, PATH, SCRATCH, STATE, Template};
use crate::text::Text;

/// Registers that stand in templates alone.
const RESERVED: Registers = STATE
    .and(Registers::range(SCRATCH, CURSOR))
    .and(Registers::of(PATH));

/// Number of the request that ends a program under attestation.
pub const FINISH: u32 = 12;

/// The greatest number of a request: `Supervisor` in `inner-domain/abi`, and FINISH.
const GREATEST: u32 = 12;

/// Number of the request that ends a program for good.
pub const EXIT: u32 = 4;

/// What is at a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// An ordinary instruction.
    Plain(Instruction),
    /// Part of the template with this number.
    Template(u32),
}

/// All words and templates of a text.
#[derive(Clone, Debug)]
pub struct Scan {
    /// What is at each word.
    pub words: Vec<Word>,
    /// The templates, in order.
    pub templates: Vec<Template>,
}

impl Scan {
    /// Looks at each word of a text, and adds to `refusals` what has no place there.
    pub fn of(text: &Text, refusals: &mut Vec<Refusal>) -> Self {
        let mut scan = Self {
            words: Vec::with_capacity(text.words().len()),
            templates: Vec::new(),
        };
        while let at = scan.words.len()
            && let Some(&word) = text.words().get(at)
        {
            match Template::find(text, at) {
                Ok(Some(template)) => scan.add(template),
                Ok(None) => {
                    let known = ordinary(word).unwrap_or_else(|reason| {
                        refusals.push(Refusal::new(text.address(at), reason));
                        STOP
                    });
                    scan.words.push(Word::Plain(known));
                }
                Err(reason) => {
                    refusals.push(Refusal::new(text.address(at), reason));
                    // A whole record is refused once.
                    let words = match reason {
                        Reason::LoneRecord(_) => LENGTH,
                        _ => 1,
                    };
                    scan.words.resize(at + words, Word::Plain(STOP));
                }
            }
        }
        scan.pair(text, refusals);
        scan
    }

    fn add(&mut self, template: Template) {
        let number = self.templates.len() as u32;
        self.words.resize(template.end, Word::Template(number));
        self.templates.push(template);
    }

    /// Returns the template that a word is part of.
    pub fn template(&self, at: usize) -> Option<&Template> {
        match self.words.get(at)? {
            Word::Template(number) => self.templates.get(*number as usize),
            Word::Plain(_) => None,
        }
    }

    /// Says whether the program may come to a word from outside of a template.
    pub fn may_enter(&self, at: usize) -> bool {
        self.template(at)
            .is_none_or(|it| it.start == at && !matches!(it.kind, Kind::Flush { .. }))
    }

    /// Looks whether each start of a region has a flush of its own, and each flush a start.
    fn pair(&self, text: &Text, refusals: &mut Vec<Refusal>) {
        for it in &self.templates {
            let fits = match it.kind {
                Kind::Region { flush, .. } => self.template(flush).is_some_and(|other| {
                    let back = it.end - 1;
                    other.start == flush && other.kind == Kind::Flush { back }
                }),
                Kind::Flush { back } => self.template(back).is_some_and(
                    |other| matches!(other.kind, Kind::Region { flush, .. } if flush == it.start),
                ),
                _ => true,
            };
            if !fits {
                refusals.push(Refusal::new(text.address(it.start), Reason::Flush));
            }
        }
    }
}

/// What stands for a word that was refused.
const STOP: Instruction = Instruction {
    flow: Flow::Stop,
    ..Instruction::PLAIN
};

/// Decodes an instruction that is no part of a template.
fn ordinary(word: u32) -> Result<Instruction, Reason> {
    let known = Instruction::decode(word).ok_or(Reason::Instruction(word))?;
    let mut used = RESERVED.numbers().filter(|&it| known.registers().has(it));
    if let Some(register) = used.next() {
        return Err(Reason::Reserved(register));
    }
    match known.flow {
        Flow::IndirectBranch(_) | Flow::IndirectCall(_) => Err(Reason::Unrecorded),
        Flow::Supervisor(number) if number == 0 || number > GREATEST => {
            Err(Reason::Request(number))
        }
        _ => Ok(known),
    }
}
