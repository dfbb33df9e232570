// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random programs in the form of attested programs.

use std::ops::Range;

use super::assembler::{Code, FINISH, Item, LOAD, Label, NOP, RET, SAVE, UNDEFINED};
use super::dice::Dice;

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// With a condition: at this block or the next one.
    Condition(usize),
    Jump(usize),
    Call(usize),
    Pointer(usize),
    Return,
    /// At a function, with x30 as it was.
    Tail(usize),
    /// At a function whose address is recorded.
    TailPointer(usize),
}

#[derive(Clone, Debug)]
struct Block {
    end: End,
    counted: bool,
    linked: bool,
    starts: bool,
    /// Edge numbers: to the block that a branch names, and to the next one.
    numbers: [u32; 2],
    bits: u32,
}

/// Makes a random program.
pub fn random(seed: u64) -> Code {
    program(seed, false)
}

/// Makes a random program in which each function calls later ones alone: a function needs no bit.
pub fn layered(seed: u64) -> Code {
    program(seed, true)
}

fn program(seed: u64, layered: bool) -> Code {
    let mut dice = Dice::new(seed);
    let functions = 1 + dice.below(4);
    let mut plans = loop {
        let plans: Vec<_> = (0..functions)
            .map(|it| plan(&mut dice, it, functions, layered))
            .collect();
        if plans.iter().flatten().all(|it| it.bits <= 12) {
            break plans;
        }
    };
    let mut code = Code::default();
    for (function, plan) in plans.iter_mut().enumerate() {
        write(&mut code, &mut dice, function, plan);
    }
    code
}

fn plan(dice: &mut Dice, function: usize, functions: usize, layered: bool) -> Vec<Block> {
    let count = 1 + dice.below(9);
    // The functions that are called.
    let called = if layered { function + 1 } else { 0 }..functions;
    let mut blocks: Vec<Block> = (0..count)
        .map(|at| Block {
            end: end(dice, function, called.clone(), at, count),
            counted: dice.often(15),
            linked: dice.often(10),
            starts: at == 0,
            numbers: [0; 2],
            // Functions may call themselves by a detour.
            bits: u32::from(at == 0 && !layered),
        })
        .collect();
    for at in 0..count {
        match blocks[at].end {
            End::Condition(to) | End::Jump(to) if to <= at => {
                blocks[to].starts = true;
                blocks[to].bits = 1;
            }
            End::Call(_) | End::Pointer(_) => blocks[at + 1].starts = true,
            _ => {}
        }
        blocks[at].starts |= dice.often(5);
    }
    number(dice, &mut blocks);
    blocks
}

fn end(dice: &mut Dice, function: usize, called: Range<usize>, at: usize, count: usize) -> End {
    let one = |dice: &mut Dice| called.start + dice.below(called.len());
    let calls = !called.is_empty();
    // Among later functions alone, calls one behind the other and little else.
    if calls && at + 1 < count && called.start > function && dice.often(60) {
        return End::Call(one(dice));
    }
    if at + 1 == count {
        return match dice.below(10) {
            0 if function > 0 && calls => End::Tail(one(dice)),
            1 if function > 0 && calls => End::TailPointer(one(dice)),
            _ => End::Return,
        };
    }
    match dice.below(20) {
        // The entry is no target: there x30 is saved.
        0..12 => End::Condition(1 + dice.below(count - 1)),
        12 => End::Jump(1 + dice.below(count - 1)),
        13..17 if calls => End::Call(one(dice)),
        17 | 18 if calls => End::Pointer(one(dice)),
        _ => End::Return,
    }
}

/// Numbers the edges, so that the paths from each block have different sums.
fn number(dice: &mut Dice, blocks: &mut [Block]) {
    let mut paths = vec![1_u32; blocks.len()];
    for at in (0..blocks.len()).rev() {
        let through = |to: usize| {
            if blocks[to].starts { 1 } else { paths[to] }
        };
        let mut numbers = [0; 2];
        paths[at] = match blocks[at].end {
            End::Condition(to) => {
                let both = [through(to), through(at + 1)];
                let first = dice.below(2);
                numbers[1 - first] = both[first];
                both[0].saturating_add(both[1])
            }
            End::Jump(to) => through(to),
            _ => 1,
        };
        blocks[at].numbers = numbers;
        let needed = paths[at]
            .checked_next_power_of_two()
            .map_or(32, u32::trailing_zeros);
        if blocks[at].starts {
            blocks[at].bits = blocks[at].bits.max(needed);
            // More bits than needed are allowed.
            blocks[at].bits += u32::from(dice.often(10) && blocks[at].bits < 12);
        } else {
            blocks[at].bits = 0;
        }
    }
}

fn write(code: &mut Code, dice: &mut Dice, function: usize, blocks: &[Block]) {
    let leaf = blocks
        .iter()
        .all(|it| !matches!(it.end, End::Call(_) | End::Pointer(_)));
    code.at(Label::Function(function));
    for (at, block) in blocks.iter().enumerate() {
        code.at(Label::Block(function, at));
        if block.bits > 0 {
            code.region(block.bits, function, at);
        }
        if at == 0 && !leaf {
            code.word(SAVE);
        }
        fill(code, dice);
        if block.counted {
            counted(code, dice, function, at);
            fill(code, dice);
        }
        // Where x30 is what the caller set: a record of anything else is no lawful return.
        if block.linked && leaf && function > 0 {
            code.record(30);
        }
        last(code, function, at, block, leaf);
    }
    for (at, block) in blocks.iter().enumerate() {
        if let End::Condition(to) = block.end
            && block.numbers[0] > 0
        {
            code.at(Label::Edge(function, at));
            code.edge(block.numbers[0]);
            code.push(Item::Far(0x1400_0000, Label::Block(function, to)));
        }
        if block.bits > 0 {
            code.flush(function, at);
        }
    }
    code.word(UNDEFINED);
}

fn fill(code: &mut Code, dice: &mut Dice) {
    for _ in 0..dice.below(3) {
        code.word(if dice.often(50) { NOP } else { 0x9100_0442 });
    }
}

/// Writes a counted loop over x1.
pub fn counted(code: &mut Code, dice: &mut Dice, function: usize, at: usize) {
    let label = Label::Loop(function, at);
    let wide = dice.often(60);
    let by = 1 + dice.below(9) as u32;
    let (step, up) = match (wide, dice.below(3)) {
        (true, 0) => (0x9100_0021 | by << 10, true),
        (true, 1) => (0xf100_0021 | by << 10, false),
        // ldr x2, [x1], #8
        (true, _) => (0xf840_8422, true),
        (false, 0) => (0x3100_0021 | by << 10, true),
        (false, _) => (0x7100_0021 | by << 10, false),
    };
    let before = if wide { 0xd241_003a } else { 0x2a01_03fa };
    code.template(Item::Word(before));
    code.at(label);
    fill(code, dice);
    code.word(step);
    fill(code, dice);
    code.template(Item::Near(0x5400_0001, label));
    let behind = match (wide, up) {
        (true, true) => 0xcb1a_003a,
        (true, false) => 0xcb01_035a,
        (false, true) => 0x4b1a_003a,
        (false, false) => 0x4b01_035a,
    };
    code.template(Item::Word(behind));
    if !wide {
        code.template(Item::Word(0xb241_035a));
    }
    code.record(26);
}

fn last(code: &mut Code, function: usize, at: usize, block: &Block, leaf: bool) {
    let leaves = matches!(block.end, End::Return | End::Tail(_) | End::TailPointer(_));
    if leaves && !leaf && function > 0 {
        code.word(LOAD);
        code.record(30);
    }
    match block.end {
        End::Condition(to) => {
            let to = if block.numbers[0] > 0 {
                Label::Edge(function, at)
            } else {
                Label::Block(function, to)
            };
            code.push(Item::Near(0x5400_0000, to));
            if block.numbers[1] > 0 {
                code.edge(block.numbers[1]);
            }
        }
        End::Jump(to) => code.push(Item::Far(0x1400_0000, Label::Block(function, to))),
        End::Call(to) => code.push(Item::Far(0x9400_0000, Label::Function(to))),
        End::Pointer(to) => pointer(code, to, 0xd63f_0120),
        End::Return if function == 0 => code.word(FINISH),
        End::Return => code.word(RET),
        End::Tail(to) => code.push(Item::Far(0x1400_0000, Label::Function(to))),
        End::TailPointer(to) => pointer(code, to, 0xd61f_0120),
    }
}

fn pointer(code: &mut Code, to: usize, branch: u32) {
    code.push(Item::Address(9, Label::Function(to)));
    code.record(9);
    code.template(Item::Word(branch));
}
