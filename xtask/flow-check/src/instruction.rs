// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions of A64, from a positive list: Armv8.0 with floating point and vectors, as compilers
//! write it. What is not in the list is refused.

mod branch;
mod convert;
mod exclusive;
mod immediate;
mod memory;
mod register;
mod scalar;
mod structure;
#[cfg(test)]
mod tests;
mod vector;
mod word;

use crate::registers::Registers;

pub use word::Word;

/// Number of the link register.
pub const LINK: u32 = 30;

/// Where the program goes on behind an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// At the next instruction.
    Next,
    /// At this distance in bytes.
    Branch(i64),
    /// At this distance in bytes, or at the next instruction.
    Conditional(i64),
    /// At this distance in bytes; x30 is the address of the next instruction.
    Call(i64),
    /// At the address in this register.
    IndirectBranch(u32),
    /// At the address in this register; x30 is the address of the next instruction.
    IndirectCall(u32),
    /// At the address in x30.
    Return,
    /// In the inner domain, with this number.
    Supervisor(u32),
    /// Nowhere: the instruction is undefined or a breakpoint.
    Stop,
}

/// How an instruction moves a register by a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Number of the register.
    pub register: u32,
    /// What is added.
    pub by: i64,
    /// Whether all 64 bits of the register count. Otherwise they are the lower 32.
    pub wide: bool,
}

/// What decides the registers and flags that an instruction writes, or its branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The lower 32 bits of the registers that it reads, and flags that it uses.
    Half,
    /// The registers that it reads, and flags that it uses.
    Full,
    /// Anything, such as memory, vectors and the stack pointer.
    Other,
}

/// What the checker knows about an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Where the program goes on.
    pub flow: Flow,
    /// General registers that it reads.
    pub reads: Registers,
    /// General registers that it writes.
    pub writes: Registers,
    /// How it moves a register by a constant, if that is how it writes it.
    pub step: Option<Step>,
    /// What decides its result.
    pub source: Source,
    /// Whether its result depends on the condition flags.
    pub uses_flags: bool,
    /// Whether it writes the condition flags.
    pub sets_flags: bool,
}

impl Instruction {
    /// An instruction that touches no general register and goes on at the next one.
    pub const PLAIN: Self = Self {
        flow: Flow::Next,
        reads: Registers::NONE,
        writes: Registers::NONE,
        step: None,
        source: Source::Other,
        uses_flags: false,
        sets_flags: false,
    };

    /// Returns the instruction with one more register that it reads.
    const fn reading(mut self, number: u32) -> Self {
        self.reads = self.reads.and(Registers::of(number));
        self
    }

    /// Returns the instruction with one more register that it writes.
    const fn writing(mut self, number: u32) -> Self {
        self.writes = self.writes.and(Registers::of(number));
        self
    }

    /// Returns the instruction with another way to go on.
    const fn going(mut self, flow: Flow) -> Self {
        self.flow = flow;
        self
    }

    /// Returns the instruction with a result that registers and flags alone decide, in 64 bits or
    /// in 32.
    const fn computing(mut self, wide: bool) -> Self {
        self.source = if wide { Source::Full } else { Source::Half };
        self
    }

    /// Returns the instruction with what it does to the condition flags.
    const fn flags(mut self, uses: bool, sets: bool) -> Self {
        self.uses_flags = uses;
        self.sets_flags = sets;
        self
    }

    /// Returns the instruction with a register that it moves by a constant.
    fn stepping(mut self, register: u32, by: i64, wide: bool) -> Self {
        if register < 31 {
            self.step = Some(Step { register, by, wide });
        }
        self
    }

    /// Decodes an instruction. `None`: it is not in the list.
    pub fn decode(word: u32) -> Option<Self> {
        let word = Word(word);
        match word.bits(28, 25) {
            0b0000 => branch::undefined(word),
            0b1000 | 0b1001 => immediate::decode(word),
            0b1010 | 0b1011 => branch::decode(word),
            0b0100 | 0b0110 | 0b1100 | 0b1110 => memory::decode(word),
            0b0101 | 0b1101 => register::decode(word),
            0b0111 | 0b1111 => decode_vector(word),
            _ => None,
        }
    }

    /// Returns the registers that the instruction reads or writes.
    pub const fn registers(&self) -> Registers {
        self.reads.and(self.writes)
    }
}

/// Decodes an instruction of the group of floating point and vectors.
fn decode_vector(word: Word) -> Option<Instruction> {
    match (word.bits(31, 30), word.bits(28, 24)) {
        (0b00 | 0b01, 0b01110) => vector::decode(word),
        (0b00 | 0b01, 0b01111) => vector::decode_immediate(word),
        (0b01, 0b11110 | 0b11111) => scalar::decode_lane(word),
        (0b00 | 0b10, 0b11110 | 0b11111) if !word.bit(29) => scalar::decode(word),
        _ => None,
    }
}
