// SPDX-License-Identifier: MIT OR Apache-2.0
//! Texts made by hand: one that is lawful, and for each rule some that break it.

mod flow;
mod form;
mod logs;
mod place;
mod rounds;
mod sums;

use super::assembler::{BASE, Code, FINISH, Item, LOAD, Label, NOP, RET, SAVE};
use super::compare::input;
use crate::program::Program;
use crate::refusal::Reason;

const LEAF: Label = Label::Function(1);
const B: u32 = 0x1400_0000;
const BL: u32 = 0x9400_0000;
const B_EQ: u32 = 0x5400_0000;
const B_NE: u32 = 0x5400_0001;

/// Makes a program: the entry calls a function with this body, and ends.
fn program(body: impl FnOnce(&mut Code)) -> Code {
    let mut code = Code::default();
    code.at(Label::Function(0));
    code.push(Item::Far(BL, LEAF));
    code.word(FINISH);
    code.at(LEAF);
    body(&mut code);
    code
}

/// Returns what is wrong with a text, by address.
fn refusals(code: &Code) -> Vec<(u64, Reason)> {
    let (words, labels) = code.assemble();
    match Program::check(input(&words, &labels)) {
        Ok(_) => Vec::new(),
        Err(all) => all.iter().map(|it| (it.address, it.reason)).collect(),
    }
}

/// Fails unless a text with this function is refused for a reason at a word of the function, and
/// for nothing else.
fn refused(at: u64, reason: Reason, body: impl FnOnce(&mut Code)) {
    let first = BASE + 8;
    assert_eq!(refusals(&program(body)), [(first + 4 * at, reason)]);
}

/// Fails unless a text with this function is accepted.
fn accepted(body: impl FnOnce(&mut Code)) {
    assert_eq!(refusals(&program(body)), []);
}

fn words(code: &mut Code, words: &[u32]) {
    words.iter().for_each(|&it| code.word(it));
}

/// Writes a region with one bit, two paths, and its flush.
fn fork(code: &mut Code, number: u32) {
    let (join, flush) = (Label::Block(1, 1), 0);
    code.region(1, 1, flush);
    code.push(Item::Near(B_EQ, join));
    if number > 0 {
        code.edge(number);
    }
    code.at(join);
    code.word(RET);
    code.flush(1, flush);
}

#[test]
fn a_lawful_text_has_what_was_written() {
    let code = program(|code| fork(code, 1));
    let (words, labels) = code.assemble();
    let numbers = Program::check(input(&words, &labels))
        .expect("lawful")
        .numbers();
    assert_eq!((numbers.regions, numbers.largest, numbers.edges), (1, 1, 1));
    assert_eq!((numbers.loops, numbers.links, numbers.indirect), (0, 0, 0));
    assert_eq!(numbers.targets, 2);
    assert_eq!(words.len() + 1, numbers.words);
}
