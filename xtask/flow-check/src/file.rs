// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the checker needs of a program's ELF file.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use donjon_compartment_image::{Access, Image};
use object::elf;
use object::read::elf::ElfFile64;
use object::{
    LittleEndian, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget,
    SectionFlags, SymbolKind,
};

use crate::lines::{self, Lines};
use crate::names::Names;
use crate::program::Input;

/// Pages of code that are checked at most: 64 MiB.
const PAGES: u64 = 1 << 14;

type File<'a> = ElfFile64<'a, LittleEndian>;

/// Reads the text of a compartment's program, its entry, and where its pointers may lead.
///
/// # Errors
///
/// What is wrong with the file, or that it was linked without `--emit-relocs`.
pub fn read(bytes: &[u8]) -> Result<Input> {
    let image = Image::parse(bytes)?;
    let pages = image.count(Access::Execute);
    ensure!(
        pages <= PAGES,
        "the file has {pages} pages of code, and {PAGES} are the most that are checked"
    );
    let text = text(&image);
    let file = File::parse(bytes).context("the sections of the file cannot be read")?;
    Ok(Input {
        entry: image.entry,
        targets: targets(&file, &text)?,
        names: names(&file, &text),
        text,
    })
}

/// Reads one section of a program that another one in the file starts, as in an emulator. Its entry
/// is the symbol `_start`.
///
/// # Errors
///
/// What is missing in the file, or that it was linked without `--emit-relocs`.
pub fn read_section(bytes: &[u8], name: &str) -> Result<Input> {
    let file = File::parse(bytes).context("this is no ELF file")?;
    let section = file.section_by_name(name);
    let section = section.with_context(|| format!("the file has no section {name}"))?;
    let entry = file.symbols().find(|it| it.name() == Ok("_start"));
    let entry = entry.context("the file has no symbol _start")?.address();
    let words = section.data()?.as_chunks::<4>().0;
    let words = words.iter().map(|&it| u32::from_le_bytes(it)).collect();
    let text = vec![(section.address(), words)];
    Ok(Input {
        entry,
        targets: targets(&file, &text)?,
        names: names(&file, &text),
        text,
    })
}

/// Lists the functions of a compartment's program whose code a compiler put into others, each with
/// an address of it, as far as the debug information says so.
///
/// # Errors
///
/// What is wrong with the file.
pub fn inlined(bytes: &[u8]) -> Result<BTreeMap<String, u64>> {
    let text = text(&Image::parse(bytes)?);
    let file = File::parse(bytes).context("the sections of the file cannot be read")?;
    Ok(lines::inlined(&file, &text))
}

fn text(image: &Image<'_>) -> Vec<(u64, Vec<u32>)> {
    let code = image.pages().filter(|it| it.access == Access::Execute);
    let text = code.map(|it| {
        let words = it.bytes.as_chunks::<4>().0;
        let words = words.iter().map(|&it| u32::from_le_bytes(it));
        (it.va, words.collect())
    });
    text.collect()
}

fn names(file: &File<'_>, text: &[(u64, Vec<u32>)]) -> Names {
    let functions = file.symbols().filter(|it| it.kind() == SymbolKind::Text);
    let named = functions.filter_map(|it| Some((it.address(), it.name().ok()?.to_owned())));
    // Mapping symbols name the kind of what follows.
    let named = named.filter(|it| !it.1.is_empty() && !it.1.starts_with('$'));
    Names::new(named.collect(), Lines::read(file, text))
}

/// Lists the addresses of text that relocations other than those of direct branches name.
fn targets(file: &File<'_>, text: &[(u64, Vec<u32>)]) -> Result<Vec<u64>> {
    let mut named = BTreeSet::new();
    let mut any = false;
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
            continue;
        };
        let loaded = sh_flags.0 & elf::SHF_ALLOC.0 != 0;
        if !loaded || section.name().is_ok_and(|it| it == ".eh_frame") {
            continue;
        }
        for (_, relocation) in section.relocations() {
            any = true;
            let RelocationFlags::Elf { r_type } = relocation.flags() else {
                continue;
            };
            let (RelocationTarget::Symbol(symbol), false) =
                (relocation.target(), is_direct(r_type))
            else {
                continue;
            };
            let symbol = file.symbol_by_index(symbol)?;
            named.insert(symbol.address().wrapping_add_signed(relocation.addend()));
        }
    }
    ensure!(
        any,
        "the file has no relocations, so the checker cannot tell which functions a pointer may \
         hold; link it with --emit-relocs"
    );
    let inside = |it: &u64| {
        let holds = |(start, words): &(u64, Vec<u32>)| {
            (*start..*start + 4 * words.len() as u64).contains(it)
        };
        text.iter().any(holds)
    };
    named.retain(inside);
    Ok(named.into_iter().collect())
}

/// Says whether a relocation is that of a direct branch.
fn is_direct(kind: elf::RelocationType) -> bool {
    matches!(
        kind,
        elf::R_AARCH64_CALL26
            | elf::R_AARCH64_JUMP26
            | elf::R_AARCH64_CONDBR19
            | elf::R_AARCH64_TSTBR14
    )
}
