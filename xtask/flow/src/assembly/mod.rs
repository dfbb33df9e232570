// SPDX-License-Identifier: MIT OR Apache-2.0
//! Assembly text of a compiler: lines, instructions and what they do with registers.

mod instruction;
mod line;
mod mnemonic;
mod register;

pub use instruction::{Instruction, immediate};
pub use line::{Kind, Line, lines};
pub use mnemonic::Class;
pub use register::{LINK, RESERVED, Registers, name, number};

/// Returns the identifiers in a text, registers and numbers among them.
pub fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !(it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '$')))
        .filter(|it| !it.is_empty())
}
