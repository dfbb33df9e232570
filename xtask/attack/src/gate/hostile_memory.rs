// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hostile memory: all that the outer domain can write, and, for a control, what it cannot.
//!
//! Each 8 bytes are a descriptor that leads to one chunk of 64 KiB, whose content is the same
//! descriptor again: it is a table at any level but the last, and a page there, of any granule.
//! Its lower half is an instruction as well. So a walk that reads one hostile table ends in
//! hostile code, however many levels are left.

use anyhow::{Context, Result};
use donjon_abi::layout::{
    GATE_L1_PAGE, GATE_L2_PAGE, GATE_L3_PAGE, LINEAR_L1_PAGE, PAGE_SIZE, ROOT_PAGE,
    TABLE_BLOCK_SIZE,
};

use super::ram::{BASE, Copy, SIZE};

/// First address of the linear map.
const LINEAR: u64 = 0xffff_8000_0000_0000;
const CHUNK: u64 = 64 << 10;
/// UXN, AF, read-only, table or page.
const DESCRIPTOR: u64 = 1 << 54 | 1 << 10 | 1 << 7 | 3;
/// AP[2]: read-only.
const READ_ONLY: u64 = 1 << 7;

/// Hostile memory.
#[derive(Clone, Copy, Debug)]
pub struct Hostile {
    /// The 8 bytes that it is made of.
    pub unit: u64,
    /// A page of it in the linear map.
    pub memory: u64,
    /// How many frames there are.
    pub frames: u64,
}

impl Hostile {
    /// The instruction that runs wherever a forged walk ends in it.
    pub const fn instruction(&self) -> u32 {
        self.unit as u32
    }
}

/// Fills every frame that the linear map lets EL1 write.
pub fn everywhere(copy: &mut Copy, root: u64) -> Result<Hostile> {
    let frames = writable(copy, root)?;
    // EOR w3, w4, w0, LSL #1 when the chunk is at 0x4a00_0000.
    let chunk = (0x4a00_0000..0x4c00_0000)
        .step_by(CHUNK as usize)
        .find(|chunk| {
            let pages = (*chunk..chunk + CHUNK).step_by(PAGE_SIZE as usize);
            pages
                .into_iter()
                .all(|it| frames.binary_search_by_key(&it, |it| it.0).is_ok())
        })
        .context("no 64 KiB in a row that the outer domain can write")?;
    let hostile = Hostile {
        unit: chunk | DESCRIPTOR,
        memory: frames.iter().find(|it| it.0 == chunk).map_or(0, |it| it.1),
        frames: frames.len() as u64,
    };
    let page = page_of(hostile);
    for (frame, _) in frames {
        copy.put(frame, &page)?;
    }
    Ok(hostile)
}

/// Fills the pages of the table block that have to be zero.
pub fn in_table_block(copy: &mut Copy, root: u64, hostile: Hostile) -> Result<()> {
    let used = [
        GATE_L1_PAGE,
        GATE_L2_PAGE,
        GATE_L3_PAGE,
        ROOT_PAGE,
        LINEAR_L1_PAGE,
    ];
    let block = root - ROOT_PAGE * PAGE_SIZE;
    for number in (0..TABLE_BLOCK_SIZE / PAGE_SIZE).filter(|it| !used.contains(it)) {
        copy.put(block + number * PAGE_SIZE, &page_of(hostile))?;
    }
    Ok(())
}

fn page_of(hostile: Hostile) -> Vec<u8> {
    hostile.unit.to_le_bytes().repeat(PAGE_SIZE as usize / 8)
}

/// Physical and virtual addresses of the frames of RAM that the linear map lets EL1 write, in
/// order.
fn writable(copy: &Copy, root: u64) -> Result<Vec<(u64, u64)>> {
    let mut frames = Vec::new();
    let entry = copy.word(root).context("no root")?;
    below(copy, entry, 1, LINEAR, &mut frames);
    frames.sort_unstable();
    Ok(frames)
}

fn below(copy: &Copy, table: u64, level: u32, address: u64, frames: &mut Vec<(u64, u64)>) {
    const ADDRESS: u64 = 0xffff_ffff_f000;
    let size = PAGE_SIZE << (9 * (3 - level));
    for index in 0..512 {
        let entry = copy.word((table & ADDRESS) + 8 * index).unwrap_or(0);
        let address = address + index * size;
        match entry & 0b11 {
            0b11 if level < 3 => below(copy, entry, level + 1, address, frames),
            0b01 | 0b11 if entry & READ_ONLY == 0 => {
                let start = entry & ADDRESS & !(size - 1);
                let pages = (0..size).step_by(PAGE_SIZE as usize);
                let in_ram = |it: &(u64, u64)| (BASE..BASE + SIZE).contains(&it.0);
                frames.extend(pages.map(|it| (start + it, address + it)).filter(in_ram));
            }
            _ => (),
        }
    }
}
