// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program's file for a compartment: text, a pointer, a note, and names.

use super::assembler::{BASE, Text};

/// Address of the data.
const DATA: u64 = 0x41_0000;
/// Frames that the compartment may have.
pub const LIMIT: u64 = 32;
/// Size of the header, and of a segment's.
const HEADER: (u64, u64) = (64, 56);
const ABSOLUTE: u64 = 257;

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|it| it.to_le_bytes()).collect()
}

/// Writes the file of a text with these names of its functions.
pub fn elf(text: &Text, names: &[(&str, u64)]) -> Vec<u8> {
    let mut strings = b"\0".to_vec();
    let mut string = |name: &str| {
        let at = strings.len() as u64;
        strings.extend(name.as_bytes());
        strings.push(0);
        at
    };
    let mut symbols = bytes(&[0, 0, 0, 3 << 32 | 1 << 48, BASE, 0]);
    for (name, address) in names {
        // A global function in the first section.
        symbols.extend(bytes(&[string(name) | 0x12 << 32 | 1 << 48, *address, 0]));
    }
    let kinds = [".text", ".data", ".sym", ".rela", ".names"].map(&mut string);
    let mut code: Vec<u8> = text.words.iter().flat_map(|it| it.to_le_bytes()).collect();
    code.resize(4096, 0);
    let mut note = [7_u32, 32, 1].map(u32::to_le_bytes).concat();
    note.extend(b"Donjon\0\0");
    note.extend(bytes(&[LIMIT, 0, DATA + 4096, 4096]));
    let relocation = bytes(&[DATA, 1 << 32 | ABSOLUTE, text.labels["open"] - BASE]);
    let pieces = [code, note, symbols, relocation, strings];
    let mut at = HEADER.0 + 3 * HEADER.1;
    let mut places = Vec::new();
    for it in &pieces {
        places.push((at, it.len() as u64));
        at += (it.len() as u64).next_multiple_of(8);
    }
    let segment = |kind: u64, va: u64, (offset, size): (u64, u64), memory: u64| {
        bytes(&[kind, offset, va, va, size, memory, 4])
    };
    let section = |kind: u64, flags: u64, va: u64, place: (u64, u64), rest: [u64; 3]| {
        let [link, align, size] = rest;
        bytes(&[kind, flags, va, place.0, place.1, link, align, size])
    };
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    let counts = [64 << 32 | 56 << 48, 3 | 64 << 16 | 6 << 32 | 5 << 48];
    file.extend(bytes(&[2 | 183 << 16 | 1 << 32, BASE, 64, at]));
    file.extend(bytes(&counts));
    file.extend(segment(1 | 5 << 32, BASE, places[0], 4096));
    file.extend(segment(1 | 6 << 32, DATA, (0, 0), 4096));
    file.extend(segment(4 | 4 << 32, 0, places[1], places[1].1));
    for (piece, place) in pieces.iter().zip(&places) {
        file.resize(place.0 as usize, 0);
        file.extend(piece);
    }
    file.resize(at as usize, 0);
    file.extend(section(0, 0, 0, (0, 0), [0; 3]));
    file.extend(section(kinds[0] | 1 << 32, 6, BASE, places[0], [0, 4, 0]));
    file.extend(section(kinds[1] | 8 << 32, 3, DATA, (0, 4096), [0, 8, 0]));
    file.extend(section(
        kinds[2] | 2 << 32,
        0,
        0,
        places[2],
        [5 | 2 << 32, 8, 24],
    ));
    file.extend(section(
        kinds[3] | 4 << 32,
        64,
        0,
        places[3],
        [3 | 2 << 32, 8, 24],
    ));
    file.extend(section(kinds[4] | 3 << 32, 0, 0, places[4], [0, 1, 0]));
    file
}
