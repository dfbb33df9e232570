// SPDX-License-Identifier: MIT OR Apache-2.0
//! Damaged texts: refused, or their logs still say the path that ran.

use super::assembler::{Code, Item, NOP};
use super::compare::{input, same};
use super::dice::Dice;
use super::generator::random;
use super::interpreter::{Machine, Plan};
use crate::program::Program;

/// Damaged texts.
const TEXTS: u64 = 6000;

/// Damages one instruction of a template. `None`: it was a kind of damage that does not fit.
fn damaged(mut code: Code, dice: &mut Dice) -> Option<(Code, Option<(usize, u32)>)> {
    let at = *code
        .templates
        .get(dice.below(code.templates.len().max(1)))?;
    let item = code.items[at];
    let mut flipped = None;
    match dice.below(6) {
        0 => {
            code.items.remove(at);
        }
        1 => code.items[at] = Item::Word(NOP),
        2 => code.items.insert(at, item),
        3 => {
            let to = dice.below(code.items.len());
            code.items.remove(at);
            code.items.insert(to.min(code.items.len()), item);
        }
        4 => {
            let other = *code.templates.get(dice.below(code.templates.len()))?;
            code.items.swap(at, other);
        }
        _ => {
            let is_word = |it: &&Item| !matches!(it, Item::At(_));
            let word = code.items[..at].iter().filter(is_word).count();
            flipped = Some((word, 1 << dice.below(32)));
        }
    }
    Some((code, flipped))
}

#[test]
fn texts_with_a_damaged_template_are_refused_or_say_the_path_that_ran() {
    let mut dice = Dice::new(7);
    let (mut refused, mut accepted) = (0, 0);
    for seed in 0..TEXTS {
        let Some((code, flipped)) = damaged(random(seed), &mut dice) else {
            continue;
        };
        let (mut text, labels) = code.assemble();
        if let Some((word, bit)) = flipped {
            text[word] ^= bit;
        }
        let Ok(program) = Program::check(input(&text, &labels)) else {
            refused += 1;
            continue;
        };
        accepted += 1;
        for run in 0..6 {
            let plan = Plan {
                fuel: 900,
                words: 3,
                resets: false,
                taken: 500,
            };
            let run = Machine::new(&text, seed ^ run << 32, plan).run();
            let same = same(&program, &run, &labels);
            assert_eq!(same, Ok(()), "text {seed}");
        }
    }
    println!("{refused} refused, {accepted} accepted");
    assert!(refused > 4000, "{refused} refused, {accepted} accepted");
    assert!(accepted > 50, "{refused} refused, {accepted} accepted");
}
