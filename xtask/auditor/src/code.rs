// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words that must not be executable at EL1 (I8), decoded here once more, from the encoding
//! tables of the manual (DDI 0487, C4.1.3: Branches, Exception Generating and System
//! instructions) and the allow-list's source.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// TCR_EL1: op0 3, op1 0, CRn 2, CRm 0, op2 2.
const TCR: InstructionKind = InstructionKind::System([3, 0, 2, 0, 2]);

/// What a sensitive word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionKind {
    /// Exception generation by mnemonic.
    Exception(&'static str),
    /// MSR, SYS, hints and barriers: op0, op1, CRn, CRm, op2.
    System([u8; 5]),
    /// MSRR and SYSP: the same fields.
    Pair([u8; 5]),
    /// In the space of the above, with a meaning that this decoder does not know.
    Unknown,
}

/// What `word` is, if it is anything of these. Reads of registers are nothing.
pub const fn kind(word: u32) -> Option<InstructionKind> {
    let fields = [
        (word >> 19 & 3) as u8,
        (word >> 16 & 7) as u8,
        (word >> 12 & 15) as u8,
        (word >> 8 & 15) as u8,
        (word >> 5 & 7) as u8,
    ];
    match (word >> 24, word >> 22 & 3, word >> 21 & 1) {
        (0xd4, _, _) => Some(exception(word)),
        // Bit 21 is L: 1 reads.
        (0xd5, 0b00 | 0b01, 1) => match fields[0] {
            // SYSL reads the result of an instruction: it executes it.
            1 => Some(InstructionKind::System(fields)),
            2 | 3 => None,
            _ => Some(InstructionKind::Unknown),
        },
        (0xd5, 0b00, _) => Some(InstructionKind::System(fields)),
        (0xd5, 0b01, _) => Some(InstructionKind::Pair(fields)),
        (0xd5, _, _) => Some(InstructionKind::Unknown),
        _ => None,
    }
}

const fn exception(word: u32) -> InstructionKind {
    let (opc, op2, ll) = (word >> 21 & 7, word >> 2 & 7, word & 3);
    InstructionKind::Exception(match (opc, op2, ll) {
        (0, 0, 1) => "SVC",
        (0, 0, 2) => "HVC",
        (0, 0, 3) => "SMC",
        (1, 0, 0) => "BRK",
        (2, 0, 0) => "HLT",
        (3, 0, 0) => "TCANCEL",
        (5, 0, 1) => "DCPS1",
        (5, 0, 2) => "DCPS2",
        (5, 0, 3) => "DCPS3",
        _ => return InstructionKind::Unknown,
    })
}

/// Everything that [`exception`] can say.
#[cfg(test)]
const EXCEPTIONS: [&str; 9] = [
    "SVC", "HVC", "SMC", "BRK", "HLT", "TCANCEL", "DCPS1", "DCPS2", "DCPS3",
];

/// Whether `word` writes TCR_EL1.
pub fn writes_tcr(word: u32) -> bool {
    kind(word) == Some(TCR)
}

/// What may be executable, read from `kernel-patch/allow-list.toml`.
#[derive(Clone, Debug, Default)]
pub struct AllowList {
    exceptions: BTreeSet<String>,
    system: BTreeSet<[u8; 5]>,
}

#[derive(Deserialize)]
struct Source {
    allowed: Vec<Section>,
}

#[derive(Deserialize)]
struct Section {
    entries: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    encoding: String,
}

impl AllowList {
    /// Reads the list.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is no such list.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("reading the allow-list {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("the allow-list {}", path.display()))
    }

    /// The list that `text` is.
    ///
    /// # Errors
    ///
    /// If it is no such list.
    pub fn parse(text: &str) -> Result<Self> {
        let source: Source = toml::from_str(text)?;
        let mut list = Self::default();
        for item in source.allowed.iter().flat_map(|it| &it.entries) {
            for encoding in item.encoding.split_whitespace() {
                list.add(encoding)?;
            }
        }
        Ok(list)
    }

    fn add(&mut self, encoding: &str) -> Result<()> {
        if !encoding.contains('_') {
            self.exceptions.insert(encoding.to_owned());
            return Ok(());
        }
        let parts: Vec<&str> = encoding.split('_').collect();
        let [op0, op1, crn, crm, op2] = parts[..] else {
            bail!("`{encoding}` has not five parts");
        };
        let prefixed = |part: &str, prefix: char| match part.strip_prefix(prefix) {
            Some(rest) => numbers(rest),
            None => bail!("`{part}` in `{encoding}` has no {prefix}"),
        };
        let (op0, op1, op2) = (prefixed(op0, 'S')?, numbers(op1)?, numbers(op2)?);
        let (crn, crm) = (prefixed(crn, 'C')?, prefixed(crm, 'C')?);
        for first in op0 {
            for second in op1.clone() {
                for third in crn.clone() {
                    for fourth in crm.clone() {
                        let all = op2.clone().map(|it| [first, second, third, fourth, it]);
                        self.system.extend(all);
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the list has words of this kind. [`super::denied`] comes before it.
    pub fn allows(&self, kind: InstructionKind) -> bool {
        match kind {
            TCR | InstructionKind::Pair(_) | InstructionKind::Unknown => false,
            InstructionKind::System(fields) => self.system.contains(&fields),
            InstructionKind::Exception(name) => self.exceptions.contains(name),
        }
    }

    /// What is on it.
    #[cfg(test)]
    pub fn kinds(&self) -> impl Iterator<Item = InstructionKind> + '_ {
        let named = EXCEPTIONS
            .iter()
            .filter(|it| self.exceptions.contains(**it));
        let system = self.system.iter().map(|it| InstructionKind::System(*it));
        named.map(|it| InstructionKind::Exception(it)).chain(system)
    }

    /// Whether there is anything on it.
    pub fn is_empty(&self) -> bool {
        self.system.is_empty()
    }
}

/// `3` or `3-7`.
fn numbers(text: &str) -> Result<std::ops::RangeInclusive<u8>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |it: &str| it.parse().with_context(|| format!("`{it}` is no number"));
    Ok(number(first)?..=number(last)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart() {
        assert_eq!(kind(0xd518_2040), Some(TCR)); // msr tcr_el1, x0
        assert_eq!(kind(0xd538_2040), None); // mrs x0, tcr_el1
        assert_eq!(kind(0xd400_0003), Some(InstructionKind::Exception("SMC")));
        assert_eq!(kind(0xd4a0_0001), Some(InstructionKind::Exception("DCPS1")));
        assert_eq!(kind(0xd440_0000), Some(InstructionKind::Exception("HLT")));
        assert_eq!(
            kind(0xd503_201f),
            Some(InstructionKind::System([0, 3, 2, 0, 0]))
        ); // nop
        assert_eq!(
            kind(0xd508_871f),
            Some(InstructionKind::System([1, 0, 8, 7, 0]))
        ); // tlbi vmalle1
        assert_eq!(
            kind(0xd558_2000),
            Some(InstructionKind::Pair([3, 0, 2, 0, 0]))
        ); // msrr ttbr0_el1
        assert_eq!(kind(0xd578_2000), None); // mrrs
        assert_eq!(kind(0xd69f_03e0), None); // eret
        assert_eq!(kind(0xf940_0000), None);
    }

    #[test]
    fn the_list_is_read_with_its_ranges() {
        let text = "[[allowed]]\ntitle = \"x\"\nentries = [\n\
                    { encoding = \"S0_3_C2_C0_2-3 S3_3_C14_C8-9_0\", name = \"\", why = \"\" },\n\
                    { encoding = \"BRK\", name = \"BRK\", why = \"\" } ]\n";
        let list = AllowList::parse(text).expect("a list");
        assert!(list.allows(InstructionKind::System([0, 3, 2, 0, 3])));
        assert!(list.allows(InstructionKind::System([3, 3, 14, 9, 0])));
        assert!(!list.allows(InstructionKind::System([3, 3, 14, 10, 0])));
        assert!(list.allows(InstructionKind::Exception("BRK")));
        assert!(!list.allows(InstructionKind::Exception("HLT")));
        assert!(!list.allows(TCR));
    }
}
