// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is read from a program's file.

use super::assembler::{BASE, FINISH, NOP, RET};
use crate::{Program, read};

/// Address of the page with data.
const DATA: u64 = 0x41_0000;
const ABSOLUTE: u64 = 257;
const PAGE_OF: u64 = 275;
const CALL: u64 = 283;

/// A file: text, data with one pointer, and what the sections say about both.
struct File {
    text: Vec<u32>,
    /// Kind, and the distance of what it names from the text's beginning.
    relocations: Vec<(u64, u64)>,
    /// Name of the section to which the relocations belong, and whether it is loaded.
    section: (&'static str, bool),
    symbol: &'static str,
}

impl File {
    fn new() -> Self {
        let mut text = vec![0x9400_0002, FINISH, NOP, RET];
        text.resize(1024, 0);
        Self {
            text,
            relocations: vec![(CALL, 8), (ABSOLUTE, 12)],
            section: (".data", true),
            symbol: "leaf",
        }
    }

    /// Returns a file with a text, and data that point to some addresses of it.
    fn with(text: &[u32], targets: &[u64]) -> Self {
        let mut text = text.to_vec();
        text.resize(text.len().next_multiple_of(1024), 0);
        let relocations = targets.iter().map(|it| (ABSOLUTE, it - BASE));
        Self {
            text,
            relocations: relocations.collect(),
            ..Self::new()
        }
    }

    fn note(&self) -> Vec<u8> {
        let words = [7_u32, 32, 1].into_iter().flat_map(u32::to_le_bytes);
        let numbers = [32, 0, DATA + 4096, 4096_u64]
            .into_iter()
            .flat_map(u64::to_le_bytes);
        words.chain(*b"Donjon\0\0").chain(numbers).collect()
    }

    fn bytes(&self) -> Vec<u8> {
        let strings = format!(
            "\0.text\0.sym\0.names\0.rela\0{}\0{}\0",
            self.section.0, self.symbol
        );
        let name = |it: &str| strings.find(&format!("\0{it}\0")).expect("there") as u64 + 1;
        let text: Vec<u8> = self.text.iter().flat_map(|it| it.to_le_bytes()).collect();
        let symbol = |name: u64, kind: u64, section: u64, value: u64| -> Vec<u8> {
            let first = name | kind << 32 | section << 48;
            [first, value, 0]
                .into_iter()
                .flat_map(u64::to_le_bytes)
                .collect()
        };
        let symbols = [
            symbol(0, 0, 0, 0),
            symbol(0, 3, 1, BASE),
            symbol(name(self.symbol), 0x12, 1, BASE + 8),
        ];
        let relocations = self.relocations.iter().flat_map(|&(kind, to)| {
            [DATA, 1 << 32 | kind, to]
                .into_iter()
                .flat_map(u64::to_le_bytes)
        });
        let pieces = [
            text,
            self.note(),
            symbols.concat(),
            relocations.collect(),
            strings.clone().into_bytes(),
        ];
        let mut at = 64 + 3 * 56_u64;
        let places: Vec<(u64, u64)> = pieces
            .iter()
            .map(|it| {
                let place = (at, it.len() as u64);
                at += place.1.next_multiple_of(8);
                place
            })
            .collect();
        let segment = |kind: u64, flags: u64, va: u64, (offset, size): (u64, u64), memory: u64| {
            [kind | flags << 32, offset, va, va, size, memory, 4]
        };
        let segments = [
            segment(1, 5, BASE, places[0], places[0].1),
            segment(1, 6, DATA, (0, 0), 4096),
            segment(4, 4, 0, places[1], places[1].1),
        ];
        let section =
            |name: u64, kind: u64, flags: u64, va: u64, place: (u64, u64), rest: [u64; 3]| {
                let [link, align, size] = rest;
                [
                    name | kind << 32,
                    flags,
                    va,
                    place.0,
                    place.1,
                    link,
                    align,
                    size,
                ]
            };
        let loaded = if self.section.1 { 3 } else { 0 };
        let sections = [
            section(0, 0, 0, 0, (0, 0), [0, 0, 0]),
            section(name(".text"), 1, 6, BASE, places[0], [0, 4, 0]),
            section(name(self.section.0), 8, loaded, DATA, (0, 4096), [0, 8, 0]),
            section(name(".sym"), 2, 0, 0, places[2], [5 | 2 << 32, 8, 24]),
            section(name(".rela"), 4, 64, 0, places[3], [3 | 2 << 32, 8, 24]),
            section(name(".names"), 3, 0, 0, places[4], [0, 1, 0]),
        ];
        let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
        bytes.resize(16, 0);
        bytes.extend((2_u64 | 183 << 16 | 1 << 32).to_le_bytes());
        for word in [
            BASE,
            64,
            at,
            64 << 32 | 56 << 48,
            3 | 64 << 16 | 6 << 32 | 5 << 48,
        ] {
            bytes.extend(u64::to_le_bytes(word));
        }
        bytes.extend(segments.iter().flatten().flat_map(|it| it.to_le_bytes()));
        for (piece, place) in pieces.iter().zip(&places) {
            bytes.resize(place.0 as usize, 0);
            bytes.extend(piece);
        }
        bytes.resize(at as usize, 0);
        bytes.extend(sections.iter().flatten().flat_map(|it| it.to_le_bytes()));
        bytes
    }
}

/// Returns a compartment's file with a text and data that point to some addresses of it.
pub fn file(text: &[u32], targets: &[u64]) -> Vec<u8> {
    File::with(text, targets).bytes()
}

#[test]
fn text_entry_and_pointers_come_from_a_compartments_file() {
    let input = read(&File::new().bytes()).expect("sound");
    assert_eq!(input.entry, BASE);
    let words: Vec<u32> = input.text.iter().flat_map(|it| it.1.clone()).collect();
    assert_eq!(words, File::new().text);
    // The target of the call is no pointer.
    assert_eq!(input.targets, [BASE + 12]);
    let program = Program::check(input).expect("lawful");
    assert_eq!(program.place(BASE + 12).as_deref(), Some("leaf+0x4"));
    assert_eq!(program.place(BASE), None);
}

#[test]
fn pointers_are_what_loaded_sections_name_in_the_text() {
    let mut file = File::new();
    file.relocations
        .extend([(PAGE_OF, 8), (ABSOLUTE, 4096), (ABSOLUTE, DATA - BASE)]);
    assert_eq!(
        read(&file.bytes()).expect("sound").targets,
        [BASE + 8, BASE + 12]
    );
    for section in [(".debug_info", false), (".eh_frame", true)] {
        file.section = section;
        let refused = read(&file.bytes()).expect_err("no relocation that counts");
        assert!(refused.to_string().contains("--emit-relocs"), "{refused}");
    }
}

#[test]
fn a_file_without_relocations_is_refused() {
    let mut file = File::new();
    file.relocations.clear();
    let refused = read(&file.bytes()).expect_err("none");
    assert!(refused.to_string().contains("--emit-relocs"), "{refused}");
}

#[test]
fn names_are_printed_with_escapes_and_matter_to_no_rule() {
    let mut file = File::new();
    file.symbol = "\x1b]0;title";
    let program = Program::check(read(&file.bytes()).expect("sound")).expect("lawful");
    let place = program.place(BASE + 8).expect("named");
    assert_eq!(place, "\\u{1b}]0;title+0x0");
    file.text[3] = 0xd65f_0000;
    let refused = Program::check(read(&file.bytes()).expect("sound")).expect_err("ret x0");
    let said = refused[0].to_string();
    assert!(
        said.starts_with("0x40000c (\\u{1b}]0;title+0x4): "),
        "{said}"
    );
}

#[test]
fn a_file_with_more_code_than_can_be_checked_is_refused() {
    let mut bytes = File::new().bytes();
    // Size of the first segment in memory, and the limit of the note.
    let note = bytes
        .windows(6)
        .position(|it| it == b"Donjon")
        .expect("there")
        + 8;
    bytes[64 + 40..64 + 48].copy_from_slice(&(1_u64 << 31).to_le_bytes());
    bytes[note..note + 8].copy_from_slice(&u64::MAX.to_le_bytes());
    // The data lies elsewhere.
    for field in [64 + 16, 64 + 24] {
        bytes[field..field + 8].copy_from_slice(&(BASE + (1 << 24)).to_le_bytes());
    }
    bytes[24..32].copy_from_slice(&(BASE + (1 << 24)).to_le_bytes());
    let refused = read(&bytes).expect_err("too much").to_string();
    assert!(refused.contains("16384 are the most"), "{refused}");
}

#[test]
fn no_damaged_file_makes_it_panic() {
    let bytes = File::new().bytes();
    let headers = (0..64 + 3 * 56).chain(bytes.len() - 6 * 64 - 300..bytes.len());
    for at in headers {
        for value in [0, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            let _ = read(&damaged);
        }
    }
}
