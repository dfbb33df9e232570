// SPDX-License-Identifier: MIT OR Apache-2.0
//! The link register: which loads are of return addresses, and whether each return uses one.
//!
//! Compilers also keep data in x30 when registers are short. A load of data into x30 must not be
//! recorded, since a record says that its word is an address: such a load gets another register.

use anyhow::{Result, ensure};

use crate::assembly::{Class, Instruction, LINK, Registers, number};
use crate::block::{Block, End};

/// Scratch registers for loads of data into x30.
const LENT: [u8; 8] = [9, 10, 11, 12, 13, 14, 15, 8];

/// What a load of x30 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// A return address.
    Return,
    /// Data.
    Data,
}

/// What may be done with the value that x30 has.
#[derive(Clone, Copy, Default, PartialEq)]
struct Use {
    returns: bool,
    reads: bool,
}

impl Use {
    fn or(self, other: Self) -> Self {
        Self {
            returns: self.returns || other.returns,
            reads: self.reads || other.reads,
        }
    }
}

/// Finds what an instruction that loads x30 loads. `None`: it loads another register.
///
/// # Errors
///
/// If one load is of both kinds, or x30 is not a return address where the function returns or
/// leaves.
pub fn loads(blocks: &[Block], successors: &[Vec<usize>]) -> Result<Vec<Vec<Option<Load>>>> {
    let uses = uses(blocks, successors);
    let mut all = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let mut later = behind(&uses, successors, block, index);
        let mut found = Vec::new();
        for it in block.instructions().rev() {
            found.push(if is_load(it) {
                ensure!(
                    !(later.returns && (later.reads || !is_whole(it))),
                    "line {}: {it} loads both data and a return address into x30",
                    it.line
                );
                Some(if later.returns {
                    Load::Return
                } else {
                    Load::Data
                })
            } else {
                None
            });
            later = through(it, later);
        }
        found.reverse();
        all.push(found);
    }
    check(blocks, successors, &all)?;
    Ok(all)
}

/// Finds calls that cannot return: behind them the function would return by an x30 that leads there
/// once more. The compiler knows that what they call never returns.
pub fn endless(blocks: &[Block], successors: &[Vec<usize>]) -> Vec<bool> {
    let uses = uses(blocks, successors);
    let next = |index: usize| uses.get(index + 1).is_some_and(|it| it.returns);
    let calls = blocks.iter().map(Block::calls).enumerate();
    calls.map(|(index, calls)| calls && next(index)).collect()
}

fn is_load(it: &Instruction) -> bool {
    let loads = matches!(
        it.class(),
        Some(Class::One | Class::Pair | Class::Exclusive | Class::ExclusivePair)
    );
    loads && it.mnemonic.starts_with("ld") && it.writes().has(LINK)
}

/// Whether all 64 bits of x30 are loaded.
fn is_whole(it: &Instruction) -> bool {
    let mut operands = it.operands.iter().take(2).filter_map(|it| number(it));
    matches!(it.mnemonic.as_str(), "ldr" | "ldp" | "ldur") && operands.any(|it| it == (LINK, true))
}

/// What may be done with x30 before an instruction, from what may be done behind it.
fn through(it: &Instruction, later: Use) -> Use {
    let is_store = it.mnemonic.starts_with("st");
    let reads = it.reads().has(LINK) && !is_store;
    let rest = if it.writes().has(LINK) && it.class() != Some(Class::Change) {
        Use::default()
    } else {
        later
    };
    rest.or(Use {
        returns: false,
        reads,
    })
}

/// What may be done with x30 at a block's end.
fn behind(uses: &[Use], successors: &[Vec<usize>], block: &Block, index: usize) -> Use {
    let returns = Use {
        returns: true,
        reads: false,
    };
    let later = successors[index].iter().map(|&to| uses[to]);
    let later = later.fold(Use::default(), Use::or);
    match &block.end {
        End::Return(_) | End::Leave(..) => returns,
        // A function is left, or a label of this one is reached: both may return.
        End::JumpRegister(..) => returns,
        End::Call(..) => Use::default(),
        End::CallRegister(_, register) => Use {
            returns: false,
            reads: *register == LINK,
        },
        End::Branch(it, _) => later.or(Use {
            returns: false,
            reads: it.reads().has(LINK),
        }),
        End::Fall | End::Jump(_) | End::Trap(_) => later,
    }
}

/// What may be done with the x30 that a block begins with.
fn uses(blocks: &[Block], successors: &[Vec<usize>]) -> Vec<Use> {
    let mut uses = vec![Use::default(); blocks.len()];
    loop {
        let mut is_done = true;
        for (index, block) in blocks.iter().enumerate().rev() {
            let mut new = behind(&uses, successors, block, index);
            for it in block.instructions().rev() {
                new = through(it, new);
            }
            is_done &= new == uses[index];
            uses[index] = new;
        }
        if is_done {
            return uses;
        }
    }
}

/// Refuses returns where x30 may be something else than what a call or a recorded load set.
fn check(blocks: &[Block], successors: &[Vec<usize>], loads: &[Vec<Option<Load>>]) -> Result<()> {
    let after = |index: usize, is_dirty: bool| {
        let instructions = blocks[index].instructions().zip(&loads[index]);
        let at_end = instructions.fold(is_dirty, |is_dirty, (it, load)| match load {
            Some(Load::Return) => false,
            _ => is_dirty || it.writes().has(LINK),
        });
        at_end && !blocks[index].calls()
    };
    let mut dirty = vec![false; blocks.len()];
    let mut work: Vec<_> = (0..blocks.len()).collect();
    while let Some(index) = work.pop() {
        if after(index, dirty[index]) {
            for &to in &successors[index] {
                if !std::mem::replace(&mut dirty[to], true) {
                    work.push(to);
                }
            }
        }
    }
    for (index, block) in blocks.iter().enumerate() {
        let leaves = matches!(
            block.end,
            End::Return(_) | End::Leave(..) | End::JumpRegister(..)
        );
        ensure!(
            !leaves || !after(index, dirty[index]),
            "line {}: the block returns or leaves, and x30 may be no return address there",
            block.line
        );
    }
    Ok(())
}

/// Loads data into x30 by another register, whose value is kept: both are exchanged before and
/// afterwards.
pub fn by_another(it: &Instruction) -> Result<Vec<String>> {
    let lent = LENT.into_iter().find(|&lent| !it.mentions().has(lent));
    let exclusive = matches!(it.class(), Some(Class::Exclusive | Class::ExclusivePair));
    ensure!(
        !exclusive,
        "line {}: {it} loads x30 exclusively, which is not supported",
        it.line
    );
    // An instruction has four registers at most.
    let lent = lent.unwrap_or(LENT[0]);
    let exchange = [
        format!("eor x{lent}, x{lent}, x30"),
        format!("eor x30, x{lent}, x30"),
        format!("eor x{lent}, x{lent}, x30"),
    ];
    let mut lines = Vec::new();
    if it.reads().meets(Registers::one(LINK)) {
        lines.extend(exchange.clone());
    } else {
        lines.push(format!("mov x30, x{lent}"));
    }
    lines.push(it.renamed(LINK, lent).to_string());
    lines.extend(exchange);
    Ok(lines)
}
