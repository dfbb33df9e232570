// SPDX-License-Identifier: MIT OR Apache-2.0
//! The note `.note.donjon`: name "Donjon", type 1, and four numbers of 8 bytes.

use object::LittleEndian;
use object::elf::{FileHeader64, ProgramHeader64};
use object::read::elf::ProgramHeader;

use crate::Error;

const NAME: &[u8] = b"Donjon";
const TYPE: u32 = 1;

pub struct Note {
    pub limit: u64,
    pub shared_pages: u64,
    pub stack: u64,
    pub stack_size: u64,
}

/// Finds the only note of an image.
pub fn find(headers: &[ProgramHeader64<LittleEndian>], bytes: &[u8]) -> Result<Note, Error> {
    let damaged = |error: object::read::Error| Error::NotElf(error.to_string());
    let mut found = None;
    for header in headers {
        let notes = header.notes(LittleEndian, bytes).map_err(damaged)?;
        let Some(mut notes) = notes else { continue };
        while let Some(note) = notes.next().map_err(damaged)? {
            if note.name() == NAME && found.replace(read(&note)?).is_some() {
                return Err(Error::NoNote);
            }
        }
    }
    found.ok_or(Error::NoNote)
}

fn read(note: &object::read::elf::Note<'_, FileHeader64<LittleEndian>>) -> Result<Note, Error> {
    let (words, rest) = note.desc().as_chunks::<8>();
    let &[limit, shared_pages, stack, stack_size] = words else {
        return Err(Error::BadNote);
    };
    if !rest.is_empty() || note.n_type(LittleEndian).0 != TYPE {
        return Err(Error::BadNote);
    }
    Ok(Note {
        limit: u64::from_le_bytes(limit),
        shared_pages: u64::from_le_bytes(shared_pages),
        stack: u64::from_le_bytes(stack),
        stack_size: u64::from_le_bytes(stack_size),
    })
}
