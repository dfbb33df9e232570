// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words of an ELF file that the outer domain will be able to execute at EL1 after boot.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use object::{Object, ObjectKind, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf};

/// One executable piece.
pub struct Code<'a> {
    /// The section's name.
    pub section: String,
    /// Address of its first byte; in a module, offset in the section.
    pub address: u64,
    bytes: &'a [u8],
    functions: BTreeMap<u64, String>,
    /// Whether what follows each mapping symbol is data: `$d` or `$x` of the AArch64 ELF
    /// specification (IHI 0056, Mapping symbols).
    data: BTreeMap<u64, bool>,
}

/// Where a word is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPlace {
    /// Address of the word, or offset in the section.
    pub address: u64,
    /// The section.
    pub section: String,
    /// The function and the offset in it.
    pub function: String,
    /// Whether the assembler put it there as data.
    pub is_constant: bool,
}

/// The executable pieces of a linked kernel, everything between `_stext` and `_etext`; of a module
/// or another relocatable object, every executable section.
pub fn executable<'a>(file: &object::File<'a>) -> Result<Vec<Code<'a>>> {
    ensure!(
        file.architecture() == object::Architecture::Aarch64 && file.is_little_endian(),
        "this is no little-endian AArch64 file"
    );
    let linked = file.kind() != ObjectKind::Relocatable;
    let map = if linked { Some(Map::of(file)?) } else { None };
    let mut all = Vec::new();
    for section in file.sections() {
        if !is_code(&section) {
            continue;
        }
        let name = section.name()?.to_owned();
        let address = section.address();
        if let Some(map) = &map
            && !map.stays_executable(&name, address..address + section.size())?
        {
            continue;
        }
        all.push(Code {
            functions: functions(file, &section),
            data: data(file, &section),
            section: name,
            address,
            bytes: section.data()?,
        });
    }
    ensure!(!all.is_empty(), "this file has no executable section");
    Ok(all)
}

/// Whether a file has instructions; an object of the kernel may have tables alone.
pub fn has_code(file: &object::File<'_>) -> bool {
    file.sections().any(|it| is_code(&it))
}

fn is_code<'a>(section: &impl ObjectSection<'a>) -> bool {
    let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
        return false;
    };
    sh_flags.contains(elf::SHF_EXECINSTR) && section.size() > 0
}

/// What Linux maps how, by the symbols of its linker script.
struct Map {
    text: std::ops::Range<u64>,
    never: Vec<std::ops::Range<u64>>,
}

impl Map {
    fn of(file: &object::File<'_>) -> Result<Self> {
        let at = |name: &str| {
            file.symbols()
                .find(|it| it.name() == Ok(name))
                .map(|it| it.address())
                .with_context(|| format!("this file has no symbol {name}; is it vmlinux?"))
        };
        Ok(Self {
            text: at("_stext")?..at("_etext")?,
            never: vec![
                // The image's header: mapped as data.
                at("_text")?..at("_stext")?,
                // Read-only data, code of the identity map included: never executable there.
                at("__start_rodata")?..at("__inittext_begin")?,
                // Unmapped and freed before the hand-over.
                at("__inittext_begin")?..at("__inittext_end")?,
            ],
        })
    }

    fn stays_executable(&self, name: &str, section: std::ops::Range<u64>) -> Result<bool> {
        let within =
            |range: &std::ops::Range<u64>| range.start <= section.start && section.end <= range.end;
        if within(&self.text) {
            return Ok(true);
        }
        ensure!(
            self.never.iter().any(within),
            "section {name} at {:#x} is executable and lies neither in the kernel's text nor \
             where Linux maps nothing executable after boot",
            section.start
        );
        Ok(false)
    }
}

fn functions(file: &object::File<'_>, section: &object::Section<'_, '_>) -> BTreeMap<u64, String> {
    let mut functions = BTreeMap::new();
    for symbol in file.symbols() {
        if symbol.section_index() != Some(section.index()) {
            continue;
        }
        let Ok(name) = symbol.name() else { continue };
        // `$x` and `$d` mark code and data, not functions.
        if name.is_empty() || name.starts_with('$') || name.starts_with(".L") {
            continue;
        }
        let place = functions
            .entry(symbol.address())
            .or_insert_with(|| name.to_owned());
        if symbol.kind() == SymbolKind::Text {
            name.clone_into(place);
        }
    }
    functions
}

/// The mapping symbols of a section: whether data begins there.
fn data(file: &object::File<'_>, section: &object::Section<'_, '_>) -> BTreeMap<u64, bool> {
    let of_section = file
        .symbols()
        .filter(|it| it.section_index() == Some(section.index()));
    let kind = |name: &str| match name.get(..2)? {
        "$d" => Some(true),
        "$x" => Some(false),
        _ => None,
    };
    of_section
        .filter_map(|it| Some((it.address(), kind(it.name().ok()?)?)))
        .collect()
}

impl Code<'_> {
    /// All words in order, with the offset of each.
    pub fn words(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let words = self.bytes.chunks_exact(4);
        words.zip((0u64..).step_by(4)).map(|(bytes, offset)| {
            let mut word = [0; 4];
            word.copy_from_slice(bytes);
            (offset, u32::from_le_bytes(word))
        })
    }

    /// Where the word at an offset is.
    pub fn place(&self, offset: u64) -> WordPlace {
        let address = self.address + offset;
        let function = match self.functions.range(..=address).next_back() {
            Some((&start, name)) => format!("{name}+{:#x}", address - start),
            None => "no function".to_owned(),
        };
        WordPlace {
            address,
            section: self.section.clone(),
            function,
            is_constant: self
                .data
                .range(..=address)
                .next_back()
                .is_some_and(|(_, data)| *data),
        }
    }
}
