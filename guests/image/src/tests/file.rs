// SPDX-License-Identifier: MIT OR Apache-2.0
//! ELF files, byte by byte.

use crate::PAGE;

pub const CODE: u64 = 0x40_0000;
pub const DATA: u64 = 0x41_0000;
pub const X: u32 = 1;
pub const WRITE: u32 = 2;
pub const READ: u32 = 4;

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;

pub struct Segment {
    pub kind: u32,
    pub flags: u32,
    pub va: u64,
    pub bytes: Vec<u8>,
    pub size: u64,
    /// If it is not the number of bytes.
    pub file_size: Option<u64>,
}

impl Segment {
    pub fn new(va: u64, flags: u32, bytes: &[u8]) -> Self {
        Self {
            kind: 1,
            flags,
            va,
            bytes: bytes.to_vec(),
            size: bytes.len() as u64,
            file_size: None,
        }
    }
}

pub struct File {
    pub class: u8,
    pub machine: u16,
    pub kind: u16,
    pub entry: u64,
    pub segments: Vec<Segment>,
    pub notes: usize,
    pub note_name: [u8; 8],
    pub note_type: u32,
    pub limit: u64,
    pub shared_pages: u64,
    pub stack: u64,
    pub stack_size: u64,
}

impl File {
    /// A page of code, and two of data of which the second is the stack.
    pub fn sound() -> Self {
        let mut data = Segment::new(DATA, READ | WRITE, &[0x22; 16]);
        data.size = 2 * PAGE;
        Self {
            class: 2,
            machine: 183,
            kind: 2,
            entry: CODE + 4,
            segments: vec![Segment::new(CODE, READ | X, &[0x11; 8]), data],
            notes: 1,
            note_name: *b"Donjon\0\0",
            note_type: 1,
            limit: 32,
            shared_pages: 1,
            stack: DATA + 2 * PAGE,
            stack_size: PAGE,
        }
    }

    fn note(&self) -> Segment {
        let mut bytes = Vec::new();
        for _ in 0..self.notes {
            for word in [7, 32, self.note_type] {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend(self.note_name);
            for word in [self.limit, self.shared_pages, self.stack, self.stack_size] {
                bytes.extend(word.to_le_bytes());
            }
        }
        let mut note = Segment::new(0, READ, &bytes);
        note.kind = 4;
        note
    }

    pub fn bytes(&self) -> Vec<u8> {
        let note = self.note();
        let segments: Vec<_> = self.segments.iter().chain([&note]).collect();
        let mut bytes = vec![0x7f, b'E', b'L', b'F', self.class, 1, 1];
        bytes.resize(16, 0);
        bytes.extend(self.kind.to_le_bytes());
        bytes.extend(self.machine.to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
        for word in [self.entry, HEADER as u64, 0] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(0_u32.to_le_bytes());
        let count = u16::try_from(segments.len()).expect("few segments");
        for half in [HEADER as u16, PROGRAM_HEADER as u16, count, 0, 0, 0] {
            bytes.extend(half.to_le_bytes());
        }
        let mut offset = HEADER + segments.len() * PROGRAM_HEADER;
        for segment in &segments {
            let length = segment.bytes.len() as u64;
            bytes.extend(segment.kind.to_le_bytes());
            bytes.extend(segment.flags.to_le_bytes());
            for word in [
                offset as u64,
                segment.va,
                segment.va,
                segment.file_size.unwrap_or(length),
                segment.size,
                4,
            ] {
                bytes.extend(word.to_le_bytes());
            }
            offset += segment.bytes.len();
        }
        for segment in &segments {
            bytes.extend(&segment.bytes);
        }
        bytes
    }
}
