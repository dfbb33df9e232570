// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports which listed instructions a kernel or module contains.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use donjon_core::code::scan::{self, ScanResult};

use super::code::{self, WordPlace};
use super::list::{List, entries};

/// How many refused words an error names.
const NAMED: usize = 20;

/// The outcome for one file.
#[derive(Debug, Default)]
pub struct Report {
    /// Words looked at.
    pub words: usize,
    /// Words that only the list can allow.
    pub sensitive: Vec<Sensitive>,
}

/// A word that only the list can allow.
#[derive(Debug)]
pub struct Sensitive {
    /// Where it is.
    pub place: WordPlace,
    /// The word.
    pub word: u32,
    /// What is decided of it.
    pub result: ScanResult,
}

impl Report {
    /// Looks at every word of `path` that stays executable.
    pub fn of(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        Self::of_bytes(&bytes).with_context(|| format!("in {}", path.display()))
    }

    /// Looks at every word of a file in memory that stays executable.
    ///
    /// # Errors
    ///
    /// If it is no ELF file for AArch64 with code.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self> {
        let file = object::File::parse(bytes)?;
        let mut report = Self::default();
        for code in code::executable(&file)? {
            for (offset, word) in code.words() {
                report.words += 1;
                if scan::is_sensitive(word) {
                    report.sensitive.push(Sensitive {
                        place: code.place(offset),
                        word,
                        result: scan::check(word),
                    });
                }
            }
        }
        Ok(report)
    }

    /// The refused words.
    pub fn refused(&self) -> impl Iterator<Item = &Sensitive> {
        self.sensitive
            .iter()
            .filter(|it| it.result != ScanResult::Allowed)
    }

    /// An error that names function, address and instruction, if a word is refused.
    pub fn ensure_clean(&self) -> Result<()> {
        let count = self.refused().count();
        if count == 0 {
            return Ok(());
        }
        let mut text = format!(
            "{count} instructions in code that stays executable are not on the list in {}:",
            super::list::PATH
        );
        for it in self.refused().take(NAMED) {
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "\n  {:#x} {}: {}",
                it.place.address,
                it.place.function,
                instruction(it)
            );
        }
        if count > NAMED {
            let _ = write!(text, "\n  and {} more", count - NAMED);
        }
        bail!(text)
    }

    /// Prints every sensitive word, then what of the list is used, and what is refused where.
    pub fn print(&self, list: &List, out: &mut impl Write) -> Result<()> {
        let names = names(list)?;
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for it in &self.sensitive {
            let name = names.get(&key(it.word)).copied();
            let (result, instruction) = match it.result {
                ScanResult::Allowed => ("allowed", name.unwrap_or("?").to_owned()),
                ScanResult::Refused(_) => ("REFUSED", instruction(it)),
            };
            if it.result == ScanResult::Allowed
                && let Some(name) = name
            {
                *uses.entry(name).or_default() += 1;
            }
            writeln!(
                out,
                "{:#x} {:#010x} {result} {:<40} {} {}",
                it.place.address, it.word, it.place.function, it.place.section, instruction
            )?;
        }
        writeln!(out, "\non the list:")?;
        for entry in entries(&list.allowed) {
            let used = uses.get(entry.name.as_str()).copied().unwrap_or(0);
            writeln!(out, "{used:>8}  {}", entry.name)?;
        }
        let mut refused: BTreeMap<String, usize> = BTreeMap::new();
        for it in self.refused() {
            let function = it.place.function.split('+').next().unwrap_or_default();
            *refused
                .entry(format!("{} in {function}", instruction(it)))
                .or_default() += 1;
        }
        writeln!(out, "\nrefused:")?;
        for (what, count) in &refused {
            writeln!(out, "{count:>8}  {what}")?;
        }
        writeln!(
            out,
            "\n{} words, {} of them decided by the list, {} refused",
            self.words,
            self.sensitive.len(),
            self.refused().count()
        )?;
        Ok(())
    }
}

fn instruction(it: &Sensitive) -> String {
    match it.result {
        ScanResult::Allowed => "allowed".to_owned(),
        ScanResult::Refused(class) if it.place.is_constant => format!(
            "{class}; it is a constant in {}, which belongs into .rodata",
            it.place.section
        ),
        ScanResult::Refused(class) => class.to_string(),
    }
}

/// The name of everything allowed, by [`key`].
fn names(list: &List) -> Result<BTreeMap<(bool, u16), &str>> {
    let mut names = BTreeMap::new();
    for entry in entries(&list.allowed) {
        let set = entry.set()?;
        for it in set.exceptions {
            names.insert((true, u16::from(it)), entry.name.as_str());
        }
        for it in set.encodings {
            names.insert((false, it), entry.name.as_str());
        }
    }
    Ok(names)
}

/// Is it an exception, and which number has it in the list.
fn key(word: u32) -> (bool, u16) {
    if word & 1 << 24 == 0 {
        (true, (word >> 16 & 0xe0 | word & 0x1f) as u16)
    } else {
        (false, (word >> 5) as u16)
    }
}

#[cfg(test)]
mod tests;
