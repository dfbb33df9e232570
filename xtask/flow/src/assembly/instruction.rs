// SPDX-License-Identifier: MIT OR Apache-2.0
//! An instruction: its operands, and which general registers it reads and writes.

use std::fmt;

use super::{Class, Registers, identifiers, mnemonic, name, number};

/// An instruction as it stands in assembly text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The number of the line.
    pub line: usize,
    /// The name in lower case; conditional branches have their dot.
    pub mnemonic: String,
    /// The operands; an address in brackets is one.
    pub operands: Vec<String>,
}

impl Instruction {
    /// Takes an instruction apart.
    pub fn new(line: usize, mnemonic: &str, operands: &str) -> Self {
        Self {
            line,
            mnemonic: mnemonic::canonical(&mnemonic.to_ascii_lowercase()),
            operands: split(operands),
        }
    }

    /// Finds what kind of instruction it is. `None`: one that the rewriter does not know.
    pub fn class(&self) -> Option<Class> {
        mnemonic::class(&self.mnemonic)
    }

    /// Collects the general registers that stand anywhere in its operands.
    pub fn mentions(&self) -> Registers {
        let operands = self.operands.iter();
        operands.fold(Registers::default(), |all, it| all | registers(it))
    }

    /// Collects the general registers that it writes, the base of a write-back among them.
    pub fn writes(&self) -> Registers {
        let count = match self.class() {
            Some(Class::One | Class::Change | Class::Exclusive | Class::Conclude) => 1,
            Some(Class::Pair | Class::ExclusivePair) => 2,
            _ => 0,
        };
        let targets = self.operands.iter().take(count);
        let targets = targets.filter_map(|it| number(it));
        let written = targets.fold(Registers::default(), |all, (it, _)| {
            all | Registers::one(it)
        });
        written
            | self
                .moved_base()
                .map_or(Registers::default(), Registers::one)
    }

    /// Collects the general registers that it reads.
    pub fn reads(&self) -> Registers {
        let skipped = match self.class() {
            Some(Class::One | Class::Exclusive | Class::Conclude) => 1,
            Some(Class::Pair | Class::ExclusivePair) => 2,
            _ => 0,
        };
        let operands = self.operands.iter().enumerate();
        let read = operands.filter(|(index, it)| *index >= skipped || number(it).is_none());
        read.fold(Registers::default(), |all, (_, it)| all | registers(it))
    }

    /// Finds the base register of an address that the instruction moves.
    fn moved_base(&self) -> Option<u8> {
        let place = self.operands.iter().position(|it| it.starts_with('['))?;
        let moves = self.operands[place].ends_with('!') || place + 1 < self.operands.len();
        let base = identifiers(&self.operands[place])
            .next()
            .filter(|_| moves)?;
        number(base).map(|(it, _)| it)
    }

    /// Finds by how much the instruction moves a register whose old value it starts from, and
    /// whether with all 64 bits.
    pub fn step(&self, register: u8) -> Option<(i64, bool)> {
        if self.moved_base() == Some(register) {
            let last = self.operands.last()?;
            let text = last.trim_end_matches(['!', ']']);
            let text = text.rsplit(',').next().filter(|it| !it.contains('['))?;
            return immediate(text).map(|it| (it, true));
        }
        let sign = match self.mnemonic.as_str() {
            "add" | "adds" => 1,
            "sub" | "subs" => -1,
            _ => return None,
        };
        let [to, from, by, shift @ ..] = self.operands.as_slice() else {
            return None;
        };
        let (to, is_wide) = number(to)?;
        if to != register || number(from)? != (to, is_wide) {
            return None;
        }
        let by = match shift {
            [] => immediate(by)?,
            [shift] if shift.replace(['#', ' '], "") == "lsl12" => immediate(by)? << 12,
            _ => return None,
        };
        Some((sign * by, is_wide))
    }

    /// Tells whether it sets the condition flags.
    pub fn sets_flags(&self) -> bool {
        const NAMES: [&str; 17] = [
            "adds", "subs", "ands", "bics", "negs", "adcs", "sbcs", "ngcs", "cmp", "cmn", "tst",
            "ccmp", "ccmn", "fcmp", "fcmpe", "fccmp", "fccmpe",
        ];
        NAMES.contains(&self.mnemonic.as_str())
    }

    /// Puts a register in the place of another one, everywhere in the operands.
    pub fn renamed(&self, from: u8, to: u8) -> Self {
        let mut new = self.clone();
        for operand in &mut new.operands {
            let mut text = String::new();
            let mut rest = operand.as_str();
            while !rest.is_empty() {
                let end = rest
                    .find(|it: char| !it.is_ascii_alphanumeric())
                    .unwrap_or(rest.len());
                match number(&rest[..end]) {
                    Some((it, is_wide)) if it == from => text.push_str(&name(to, is_wide)),
                    _ => text.push_str(&rest[..end]),
                }
                rest = &rest[end..];
                let next = rest.chars().next();
                text.extend(next);
                rest = &rest[next.map_or(0, char::len_utf8)..];
            }
            *operand = text;
        }
        new
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.mnemonic)?;
        if !self.operands.is_empty() {
            write!(out, "\t{}", self.operands.join(", "))?;
        }
        Ok(())
    }
}

/// Reads a number with or without its sharp.
pub fn immediate(text: &str) -> Option<i64> {
    let text = text.trim().trim_start_matches('#');
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()? as i64,
        None => digits.parse().ok()?,
    };
    Some(if is_negative {
        value.wrapping_neg()
    } else {
        value
    })
}

fn registers(operand: &str) -> Registers {
    let found = identifiers(operand).filter_map(number);
    found.fold(Registers::default(), |all, (it, _)| {
        all | Registers::one(it)
    })
}

/// Splits operands at commas outside of brackets.
fn split(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0_usize, 0);
    for (place, it) in text.char_indices() {
        match it {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[from..place].trim().to_owned());
                from = place + 1;
            }
            _ => {}
        }
    }
    let last = text[from..].trim();
    if !last.is_empty() {
        parts.push(last.to_owned());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Instruction {
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        Instruction::new(1, name, rest)
    }

    #[test]
    fn reads_and_writes_of_registers_are_found() {
        for (text, writes, reads) in [
            ("add x1, x2, w3, uxtw 2", 1 << 1, 1 << 2 | 1 << 3),
            ("ldp x29, x30, [sp], 32", 1 << 29 | 1 << 30, 0),
            ("ldr d1, [x0], 8", 1, 1),
            ("str x1, [x2, 8]!", 1 << 2, 1 << 1 | 1 << 2),
            ("movk x3, 0xedb8, lsl 16", 1 << 3, 1 << 3),
            ("stlxr w4, w3, [x2]", 1 << 4, 1 << 3 | 1 << 2),
            ("cmp lr, x2", 0, 1 << 30 | 1 << 2),
            ("fmov x5, d0", 1 << 5, 0),
        ] {
            let parsed = parse(text);
            assert_eq!(parsed.writes().0, writes, "{text}");
            assert_eq!(parsed.reads().0, reads, "{text}");
        }
    }

    #[test]
    fn steps_of_induction_registers_are_found() {
        for (text, step) in [
            ("add x1, x1, 4", Some((4, true))),
            ("subs w1, w1, #1", Some((-1, false))),
            ("add x1, x1, 1, lsl 12", Some((4096, true))),
            ("ldr x2, [x1], -8", Some((-8, true))),
            ("ldr x2, [x1, 16]!", Some((16, true))),
            ("add x1, x2, 4", None),
            ("add x1, x1, x2", None),
            ("ld1 {v0.16b}, [x1], x2", None),
        ] {
            assert_eq!(parse(text).step(1), step, "{text}");
        }
    }

    #[test]
    fn a_register_is_renamed_in_all_operands() {
        let renamed = parse("ldr w30, [x30, w3, sxtw 2]").renamed(30, 9);
        assert_eq!(renamed.to_string(), "ldr\tw9, [x9, w3, sxtw 2]");
    }
}
