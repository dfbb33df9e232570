// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files in which Linux shows all of memory.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use anyhow::{Context, Result, ensure};
use donjon_guests::memory::PAGE;

use crate::wanted::{Tally, Wanted};

/// Where an ELF header has the place of the program headers, their size and their number.
const PHOFF: usize = 0x20;
const PHENTSIZE: usize = 0x36;
const PHNUM: usize = 0x38;
/// Where a program header has the kind, the place in the file, the physical address and the size.
const KIND: usize = 0;
const OFFSET: usize = 8;
const PHYSICAL: usize = 24;
const SIZE: usize = 32;
const LOAD: u64 = 1;
/// What no machine has: the kernel's range of addresses is larger.
const MOST: u64 = 1 << 40;

/// `/proc/kcore`: RAM in it by the linear map.
pub fn kcore(wanted: Wanted) -> Result<Tally> {
    let Some(file) = open("/proc/kcore")? else {
        return Ok(Tally::default());
    };
    let Ok(file) = file else {
        return Ok(denied());
    };
    let parts = parts(&file).context("the headers of /proc/kcore")?;
    ensure!(!parts.is_empty(), "/proc/kcore has no RAM");
    Ok(search(&file, &parts, wanted))
}

/// `/dev/mem`: RAM by its addresses.
pub fn memory(wanted: Wanted) -> Result<Tally> {
    let Some(file) = open("/dev/mem")? else {
        return Ok(Tally::default());
    };
    let Ok(file) = file else {
        return Ok(denied());
    };
    let text = fs::read_to_string("/proc/iomem")?;
    let ram = text.lines().filter_map(|line| {
        let (start, end) = line.strip_suffix(" : System RAM")?.split_once('-')?;
        let number = |it: &str| u64::from_str_radix(it, 16).ok();
        Some(number(start)?..number(end)? + 1)
    });
    Ok(search(&file, &ram.collect::<Vec<_>>(), wanted))
}

/// The tally of a way that may not be used.
fn denied() -> Tally {
    Tally {
        refused: 1,
        ..Tally::THERE
    }
}

/// Nothing if there is no such file; an error inside if it may not be opened.
fn open(path: &str) -> Result<Option<std::io::Result<File>>> {
    match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(Some(Err(error))),
        Err(error) => Err(error).with_context(|| format!("opening {path}")),
        Ok(file) => Ok(Some(Ok(file))),
    }
}

/// Where the file has RAM.
fn parts(file: &File) -> Result<Vec<Range<u64>>> {
    let mut header = [0; 64];
    file.read_exact_at(&mut header, 0)?;
    let start = number(&header, PHOFF, 8);
    let size = number(&header, PHENTSIZE, 2);
    let mut parts = Vec::new();
    for index in 0..number(&header, PHNUM, 2) {
        let mut header = [0; 56];
        file.read_exact_at(&mut header, start + index * size)?;
        let size = number(&header, SIZE, 8);
        let is_ram = number(&header, PHYSICAL, 8) + 1 > 1;
        if number(&header, KIND, 4) == LOAD && is_ram && size < MOST {
            let offset = number(&header, OFFSET, 8);
            parts.push(offset..offset + size);
        }
    }
    Ok(parts)
}

fn number(bytes: &[u8], place: usize, size: usize) -> u64 {
    let mut number = [0; 8];
    number[..size].copy_from_slice(&bytes[place..place + size]);
    u64::from_le_bytes(number)
}

fn search(file: &File, parts: &[Range<u64>], wanted: Wanted) -> Tally {
    let mut tally = Tally::THERE;
    let mut bytes = [0; PAGE];
    for page in parts.iter().flat_map(|it| it.clone().step_by(PAGE)) {
        let is_read = file.read_exact_at(&mut bytes, page).is_ok();
        tally.add_page(is_read.then_some(&mut bytes), false, wanted);
    }
    tally
}
