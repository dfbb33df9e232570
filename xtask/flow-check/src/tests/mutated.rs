// SPDX-License-Identifier: MIT OR Apache-2.0
//! Damaged programs: refused, or their logs still say the path that ran.

use std::collections::BTreeMap;
use std::ops::Range;

use super::assembler::{Code, Item, Label, NOP};
use super::compare::{events, input, same};
use super::dice::Dice;
use super::elf::file;
use super::generator::random;
use super::interpreter::{Machine, Plan, Run};
use crate::program::Program;
use crate::read;
use crate::refusal::Reason;
use crate::replay::Fault;

const PLAN: Plan = Plan {
    fuel: 900,
    words: 3,
    resets: false,
    taken: 500,
};

/// What became of damaged programs.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    refused: usize,
    accepted: usize,
    /// Runs whose log is refused at the first illegal step.
    noticed: usize,
    /// Runs whose log says another path.
    wrong: usize,
}

/// A damaged program: its text, and where its parts are.
struct Damaged {
    text: Vec<u32>,
    labels: BTreeMap<Label, u64>,
}

/// Damages one instruction of a template in each way: left out, made a `nop`, doubled, exchanged
/// with the next one, moved, and each bit of it flipped.
fn damaged(code: &Code, at: usize, dice: &mut Dice) -> Vec<Damaged> {
    let item = code.items[at];
    let changed = |change: &dyn Fn(&mut Vec<Item>)| {
        let mut code = code.clone();
        change(&mut code.items);
        let (text, labels) = code.assemble();
        Damaged { text, labels }
    };
    let to = dice.below(code.items.len());
    let mut all = vec![
        changed(&|it| {
            it.remove(at);
        }),
        changed(&|it| it[at] = Item::Word(NOP)),
        changed(&|it| it.insert(at, item)),
        changed(&|it| it.swap(at, (at + 1).min(code.items.len() - 1))),
        changed(&|it| {
            it.remove(at);
            it.insert(to.min(it.len()), item);
        }),
    ];
    let is_word = |it: &&Item| !matches!(it, Item::At(_));
    let word = code.items[..at].iter().filter(is_word).count();
    all.extend((0..32).map(|bit| {
        let mut whole = changed(&|_| {});
        whole.text[word] ^= 1 << bit;
        whole
    }));
    all
}

/// Damages each instruction of the templates of random programs, and checks them without one rule,
/// if one is given. Those that are accepted run.
fn each_template(programs: Range<u64>, without: Option<Reason>) -> Numbers {
    let mut numbers = Numbers::default();
    let mut dice = Dice::new(programs.start);
    for seed in programs {
        let code = random(seed);
        for &at in &code.templates {
            for it in damaged(&code, at, &mut dice) {
                let input = input(&it.text, &it.labels);
                let checked = match without {
                    Some(rule) => Program::without(rule, input),
                    None => Program::check(input),
                };
                let Ok(program) = checked else {
                    numbers.refused += 1;
                    continue;
                };
                numbers.accepted += 1;
                for run in 0..6 {
                    let run = Machine::new(&it.text, seed ^ run << 32, PLAN).run();
                    let same = same(&program, &run, &it.labels);
                    numbers.wrong += usize::from(same.is_err());
                }
            }
        }
    }
    numbers
}

/// Flips bits of words anywhere in the files of random programs. Outside of templates that makes
/// other programs, which may go astray: then their logs are refused where they do.
fn anywhere(programs: Range<u64>) -> Numbers {
    let mut numbers = Numbers::default();
    let mut dice = Dice::new(programs.start);
    for seed in programs {
        let (mut text, labels) = random(seed).assemble();
        for _ in 0..1 + dice.below(2) {
            let at = dice.below(text.len());
            text[at] ^= match dice.below(4) {
                0 => dice.next() as u32,
                _ => 1 << dice.below(32),
            };
        }
        let targets = input(&text, &labels).targets;
        let input = read(&file(&text, &targets)).expect("a sound file");
        let Ok(program) = Program::check(input) else {
            numbers.refused += 1;
            continue;
        };
        numbers.accepted += 1;
        for run in 0..6 {
            let run = Machine::new(&text, seed ^ run << 32, PLAN).run();
            if is_noticed(&program, &run) {
                numbers.noticed += 1;
            } else {
                numbers.wrong += usize::from(same(&program, &run, &labels).is_err());
            }
        }
    }
    numbers
}

/// Says whether a run took an illegal step, and its log says so: that an address was recorded to
/// which it must not go.
fn is_noticed(program: &Program, run: &Run) -> bool {
    let fault = events(program, run).map_err(|it| it.fault);
    let Err(Fault::Target(to) | Fault::Return { to, .. }) = fault else {
        return false;
    };
    let mut words = run.segments.iter().flat_map(|it| &it.0);
    words.any(|it| *it == to)
}

#[test]
fn templates_with_a_damaged_instruction_are_refused_or_say_the_path_that_ran() {
    let numbers = each_template(18..19, None);
    println!("{numbers:?}");
    assert!(
        numbers.refused > 5000 && numbers.accepted > 10,
        "{numbers:?}"
    );
    assert_eq!(numbers.wrong, 0, "{numbers:?}");
}

#[test]
fn files_with_flipped_bits_are_refused_or_say_the_path_that_ran() {
    let numbers = anywhere(0..5000);
    println!("{numbers:?}");
    assert!(
        numbers.refused > 1000 && numbers.accepted > 100,
        "{numbers:?}"
    );
    assert_eq!(numbers.wrong, 0, "{numbers:?}");
}

#[test]
fn without_a_rule_damaged_templates_say_other_paths() {
    for rule in [Reason::EqualSums, Reason::LargeSum] {
        let numbers = each_template(27..28, Some(rule));
        assert!(numbers.wrong > 0, "{rule:?} {numbers:?}");
    }
}

#[test]
#[ignore = "takes minutes"]
fn many_damaged_programs_are_refused_or_say_the_path_that_ran() {
    let numbers = [each_template(18..30, None), anywhere(5000..15_000)];
    println!("{numbers:?}");
    assert!(numbers[0].refused + numbers[0].accepted > 50_000);
    assert_eq!(numbers[0].wrong + numbers[1].wrong, 0);
}
