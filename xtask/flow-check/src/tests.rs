// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs made by hand and at random, run by an interpreter of the tests' own.

mod assembler;
mod compare;
mod dice;
mod elf;
mod generator;
mod hostile;
mod interpreter;
mod loaded;
mod mutated;
mod random;
mod readings;
mod seeds;
