// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files and lines of addresses, from a program's DWARF. They are for people: no rule looks at
//! them.

use std::collections::{BTreeMap, HashMap};

use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, LittleEndian as Little, SectionId};
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSection};

/// Where the sources of programs are that were built here, as their debug information says.
const SOURCES: &str = "/donjon/";

type Slice<'a> = EndianSlice<'a, Little>;

/// A stretch of text that one line made.
#[derive(Clone, Copy, Debug)]
struct Row {
    start: u64,
    end: u64,
    file: u32,
    line: u32,
}

/// The lines of a text, by address.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    files: Vec<String>,
    rows: Vec<Row>,
}

impl Lines {
    /// Reads the lines of a text, which is given as addresses and words. Without sound debug
    /// information there are none.
    pub fn read(file: &ElfFile64<'_, LittleEndian>, text: &[(u64, Vec<u32>)]) -> Self {
        let mut lines = Self::default();
        let Some(context) = context(file) else {
            return lines;
        };
        let mut numbers = HashMap::new();
        for (start, words) in text {
            let end = start.saturating_add(4 * words.len() as u64);
            let Ok(ranges) = context.find_location_range(*start, end) else {
                continue;
            };
            for (start, length, location) in ranges {
                let (Some(name), Some(line)) = (location.file, location.line) else {
                    continue;
                };
                let file = *numbers.entry(name.to_owned()).or_insert_with(|| {
                    lines.files.push(name.to_owned());
                    lines.files.len() as u32 - 1
                });
                let end = start.saturating_add(length);
                lines.rows.push(Row {
                    start,
                    end,
                    file,
                    line,
                });
            }
        }
        lines.rows.sort_by_key(|it| it.start);
        lines
    }

    /// Returns file and line of an address. Control characters in the file's name are written as
    /// escapes.
    pub fn of(&self, address: u64) -> Option<String> {
        let at = self.rows.partition_point(|it| it.start <= address);
        let row = self.rows.get(at.checked_sub(1)?)?;
        let name = self.files.get(row.file as usize)?;
        // Lines of the repository's own programs are written from its root on.
        let name = name.strip_prefix(SOURCES).unwrap_or(name);
        (address < row.end).then(|| format!("{}:{}", name.escape_default(), row.line))
    }

    /// Says whether no line is known.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Lists the functions whose code a compiler put into others, each with an address of it.
pub fn inlined(
    file: &ElfFile64<'_, LittleEndian>,
    text: &[(u64, Vec<u32>)],
) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let Some(context) = context(file) else {
        return found;
    };
    for (start, words) in text {
        for address in (*start..).step_by(4).take(words.len()) {
            let Ok(mut frames) = context.find_frames(address).skip_all_loads() else {
                continue;
            };
            // The last frame is the function itself.
            let mut inner: Option<String> = None;
            while let Ok(Some(frame)) = frames.next() {
                if let Some(name) = inner.take() {
                    found.entry(name).or_insert(address);
                }
                let name = frame.function.as_ref().and_then(|it| it.raw_name().ok());
                inner = name.map(|it| it.into_owned());
            }
        }
    }
    found
}

fn context<'a>(file: &ElfFile64<'a, LittleEndian>) -> Option<Context<Slice<'a>>> {
    let section = |id: SectionId| {
        let section = file.section_by_name(id.name());
        let bytes = section.and_then(|it| it.data().ok()).unwrap_or_default();
        Ok::<_, addr2line::gimli::Error>(EndianSlice::new(bytes, Little))
    };
    Context::from_dwarf(Dwarf::load(section).ok()?).ok()
}
