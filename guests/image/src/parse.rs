// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the bytes of a file to an image.

use object::LittleEndian;
use object::elf::{
    EM_AARCH64, ET_DYN, ET_EXEC, FileHeader64, PF_W, PF_X, PT_DYNAMIC, PT_INTERP, PT_LOAD,
    ProgramHeader64,
};
use object::read::elf::{FileHeader, ProgramHeader};

use crate::segment::Segment;
use crate::{Access, Error, Image, PAGE, SHARED, SHARED_MAX, note};

const LE: LittleEndian = LittleEndian;

pub fn parse(bytes: &[u8]) -> Result<Image<'_>, Error> {
    let damaged = |error: object::read::Error| Error::NotElf(error.to_string());
    if !bytes.starts_with(b"\x7fELF") {
        return Err(Error::NotElf("it does not begin like one".into()));
    }
    // Class and order of bytes.
    if bytes.get(4..6) != Some(&[2, 1]) {
        return Err(Error::WrongMachine);
    }
    let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(damaged)?;
    if header.e_machine(LE) != EM_AARCH64 {
        return Err(Error::WrongMachine);
    }
    match header.e_type(LE) {
        ET_EXEC => {}
        ET_DYN => return Err(Error::PositionIndependent),
        _ => return Err(Error::NotExecutable),
    }
    let headers = header.program_headers(LE, bytes).map_err(damaged)?;
    if headers
        .iter()
        .any(|it| matches!(it.p_type(LE), PT_DYNAMIC | PT_INTERP))
    {
        return Err(Error::Dynamic);
    }
    let segments = segments(headers, bytes)?;
    let note = note::find(headers, bytes)?;
    if note.shared_pages > SHARED_MAX {
        return Err(Error::TooManyShared(note.shared_pages));
    }
    let image = Image {
        segments,
        entry: header.e_entry(LE),
        stack: note.stack,
        stack_size: note.stack_size,
        limit: note.limit,
        shared_pages: note.shared_pages,
    };
    check(&image)?;
    Ok(image)
}

fn segments<'a>(
    headers: &[ProgramHeader64<LittleEndian>],
    bytes: &'a [u8],
) -> Result<Vec<Segment<'a>>, Error> {
    let loaded = |it: &&ProgramHeader64<_>| it.p_type(LE) == PT_LOAD && it.p_memsz(LE) > 0;
    let segments = headers.iter().filter(loaded);
    let mut segments = segments
        .map(|it| segment(it, bytes))
        .collect::<Result<Vec<_>, _>>()?;
    segments.sort_by_key(|it| it.va);
    for pair in segments.windows(2) {
        if pair[0].range().end > pair[1].va {
            return Err(Error::Overlap(pair[1].va));
        }
    }
    Ok(segments)
}

fn segment<'a>(
    header: &ProgramHeader64<LittleEndian>,
    bytes: &'a [u8],
) -> Result<Segment<'a>, Error> {
    let (va, size) = (header.p_vaddr(LE), header.p_memsz(LE));
    if !va.is_multiple_of(PAGE) {
        return Err(Error::Unaligned(va));
    }
    let end = va.checked_add(size).filter(|&end| end <= SHARED);
    if va < PAGE || end.is_none() {
        return Err(Error::OutOfRange(va));
    }
    let flags = header.p_flags(LE);
    let access = match (flags & PF_W == PF_W, flags & PF_X == PF_X) {
        (true, true) => return Err(Error::WritableCode(va)),
        (true, false) => Access::Write,
        (false, true) => Access::Execute,
        (false, false) => Access::Read,
    };
    if header.p_filesz(LE) > size {
        return Err(Error::Truncated(va));
    }
    let bytes = header.data(LE, bytes).map_err(|()| Error::Truncated(va))?;
    Ok(Segment {
        va,
        access,
        pages: size.div_ceil(PAGE),
        bytes,
    })
}

fn check(image: &Image<'_>) -> Result<(), Error> {
    let within = |access: Access, start: u64, end: u64| {
        image.segments.iter().any(|it| {
            let range = it.range();
            it.access == access && range.start <= start && start < end && end <= range.end
        })
    };
    let entry = image.entry;
    if !entry.is_multiple_of(4) || !within(Access::Execute, entry, entry.saturating_add(4)) {
        return Err(Error::EntryOutside(entry));
    }
    let bottom = image.stack.checked_sub(image.stack_size);
    let is_inside = bottom.is_some_and(|it| within(Access::Write, it, image.stack));
    if !image.stack.is_multiple_of(16) || !is_inside {
        return Err(Error::StackOutside(image.stack));
    }
    let (limit, needed) = (image.limit, image.frames());
    if needed > limit {
        return Err(Error::LimitTooSmall { limit, needed });
    }
    Ok(())
}
