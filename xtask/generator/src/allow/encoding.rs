// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the list writes in `encoding`: names of instructions, and patterns of them.

use anyhow::{Context, Result, bail, ensure};
use donjon_core::code::scan::{Encoding, Exception};

/// What one entry of the list stands for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Set {
    /// Instructions that generate exceptions, as their eight bits.
    pub exceptions: Vec<u8>,
    /// Numbers of [`Encoding`], sorted.
    pub encodings: Vec<u16>,
}

/// Reads words separated by spaces: `BRK`, `S3_3_C9_C12_0`, `S2_0_C0_C0-15_4`.
pub fn parse(text: &str) -> Result<Set> {
    let mut set = Set::default();
    for word in text.split_whitespace() {
        let lower = word.to_lowercase();
        match Exception::ALL.iter().find(|it| it.name() == lower) {
            Some(exception) => set.exceptions.push(*exception as u8),
            None => set.encodings.extend(
                pattern(word).with_context(|| format!("in the encoding `{word}` of the list"))?,
            ),
        }
    }
    ensure!(
        !set.exceptions.is_empty() || !set.encodings.is_empty(),
        "an entry of the list has an empty encoding"
    );
    set.encodings.sort_unstable();
    Ok(set)
}

fn pattern(word: &str) -> Result<Vec<u16>> {
    let fields: Vec<&str> = word.split('_').collect();
    let [op0, op1, crn, crm, op2] = fields[..] else {
        bail!("it is neither an instruction nor of the form S<op0>_<op1>_C<CRn>_C<CRm>_<op2>");
    };
    let mut numbers = Vec::new();
    for op0 in range(op0, "S")? {
        for op1 in range(op1, "")? {
            for crn in range(crn, "C")? {
                for crm in range(crm, "C")? {
                    for op2 in range(op2, "")? {
                        let encoding = Encoding::new(op0, op1, crn, crm, op2)
                            .context("a number is too large for its field")?;
                        numbers.push(encoding.number());
                    }
                }
            }
        }
    }
    Ok(numbers)
}

fn range(field: &str, prefix: &str) -> Result<std::ops::RangeInclusive<u16>> {
    let numbers = field
        .strip_prefix(prefix)
        .with_context(|| format!("`{field}` does not begin with {prefix}"))?;
    let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
    let number = |text: &str| {
        text.parse::<u16>()
            .with_context(|| format!("`{text}` is no number"))
    };
    let (first, last) = (number(first)?, number(last)?);
    ensure!(first <= last, "the range {first}-{last} is backwards");
    Ok(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_stands_for_each_of_its_numbers() {
        let set = parse("S3_3_C14_C8-9_6-7 BRK").expect("a valid encoding");
        let expected: Vec<u16> = [(8, 6), (8, 7), (9, 6), (9, 7)]
            .iter()
            .map(|&(crm, op2)| 0b11 << 14 | 3 << 11 | 14 << 7 | crm << 3 | op2)
            .collect();
        assert_eq!(set.encodings, expected);
        assert_eq!(set.exceptions, [0b001_00000]);
    }

    #[test]
    fn what_is_no_encoding_is_refused() {
        for text in [
            "",
            "S3_0_C2_C0",
            "S4_0_C2_C0_0",
            "S3_0_C16_C0_0",
            "S3_0_2_C0_0",
            "S3_0_C2_C0_3-1",
            "S3_0_C2_C0_8",
            "ERET",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
