// SPDX-License-Identifier: MIT OR Apache-2.0
//! Leaving out checks, for the tests that show what each is for.
//!
//! Those in assembly are features of a build of their own. All others are in one build, which asks
//! a word; it is written into the finished program here.

use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use donjon_core::checks::{BY_WORD, BY_WORD_FEATURE};
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object, ObjectSection, ObjectSymbol};

/// The word.
const SYMBOL: &str = "DONJON_LEFT_OUT";

/// Returns the features of the inner domain that lacks the checks `names`.
pub fn features(names: &[String]) -> Vec<&str> {
    let is_choice = |name: &str| BY_WORD.iter().any(|it| it.0 == name);
    let (chosen, mut features): (Vec<&str>, Vec<_>) = names
        .iter()
        .map(String::as_str)
        .partition(|it| is_choice(it));
    if !chosen.is_empty() {
        features.push(BY_WORD_FEATURE);
    }
    features
}

/// Writes into a finished inner domain which checks it leaves out.
///
/// # Errors
///
/// If the program has no word for it, or cannot be written.
pub fn choose(program: &Path, names: &[String]) -> Result<()> {
    let choices = BY_WORD.iter();
    let choices = choices.filter(|it| names.iter().any(|name| name == it.0));
    let mask = choices.fold(0_u64, |mask, it| mask | 1 << it.1);
    if mask == 0 {
        return Ok(());
    }
    let mut bytes = fs::read(program).with_context(|| format!("reading {}", program.display()))?;
    let place = place(&bytes).with_context(|| format!("looking for {SYMBOL}"))?;
    let word = bytes.get_mut(place).context("it ends too early")?;
    word.copy_from_slice(&mask.to_le_bytes());
    fs::write(program, bytes).with_context(|| format!("writing {}", program.display()))
}

/// Finds the bytes of the word in an ELF file.
fn place(bytes: &[u8]) -> Result<Range<usize>> {
    let file = ElfFile::<FileHeader64<Endianness>>::parse(bytes)?;
    let symbol = file.symbols().find(|it| it.name() == Ok(SYMBOL));
    let symbol = symbol.context("there is no such symbol")?;
    ensure!(symbol.size() == 8, "it has {} bytes", symbol.size());
    let index = symbol.section_index().context("it has no section")?;
    let section = file.section_by_index(index)?;
    let (start, _) = section.file_range().context("its section has no bytes")?;
    let start = usize::try_from(start + symbol.address() - section.address())?;
    Ok(start..start + 8)
}

#[cfg(test)]
mod tests {
    use super::features;

    #[test]
    fn one_build_serves_all_that_are_chosen() {
        let of = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|it| (*it).to_owned()).collect();
            features(&names).join(",")
        };
        assert_eq!(of(&[]), "");
        assert_eq!(of(&["weaken-seal"]), "checks-by-word");
        assert_eq!(of(&["weaken-seal", "weaken-list"]), "checks-by-word");
        assert_eq!(of(&["weaken-scrub"]), "weaken-scrub");
        assert_eq!(
            of(&["trace-steps", "weaken-flush"]),
            "trace-steps,checks-by-word"
        );
    }
}
