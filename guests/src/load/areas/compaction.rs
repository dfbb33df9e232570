// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory compaction: Linux moves pages.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use anyhow::{Result, ensure};

use crate::memory::{Mapping, PAGE, TABLE_SPAN};

const CHUNKS: usize = 24;
/// Pages move towards the end of memory. With this many chunks allocated before or after them, in
/// turns, there is room on that side in one round at least.
const ROOM: usize = 48;
const ROUNDS: u64 = 4;
/// Further ones until a page has moved: what else is allocated decides whether it must.
const MOST_ROUNDS: u64 = 24;

/// The frames behind the odd pages of `chunk`, as /proc/self/pagemap tells root.
fn frames(chunk: &Mapping) -> Result<Vec<u64>> {
    const FRAME: u64 = (1 << 55) - 1;
    let mut words = vec![0u8; chunk.pages() * 8];
    let file = File::open("/proc/self/pagemap")?;
    file.read_exact_at(&mut words, (chunk.address() / PAGE * 8) as u64)?;
    let word = |bytes: &[u8]| Ok(u64::from_le_bytes(bytes.try_into()?) & FRAME);
    words.chunks(8).skip(1).step_by(2).map(word).collect()
}

fn room() -> Result<Vec<Mapping>> {
    let touched = |_| {
        let mapping = Mapping::anonymous(TABLE_SPAN)?;
        mapping.stamp(0);
        Ok(mapping)
    };
    (0..ROOM).map(touched).collect()
}

/// Fragments memory, asks for compaction and looks for everything where it was.
pub fn compaction() -> Result<()> {
    let mut moved = 0;
    for round in 0..MOST_ROUNDS {
        if round >= ROUNDS && moved > 0 {
            break;
        }
        let before = if round % 2 == 0 { room()? } else { Vec::new() };
        let chunks: Vec<Mapping> = (0..CHUNKS)
            .map(|_| Mapping::anonymous(TABLE_SPAN))
            .collect::<Result<_>>()?;
        for chunk in &chunks {
            chunk.stamp(round);
        }
        let after = if round % 2 == 0 { Vec::new() } else { room()? };
        drop((before, after));
        for chunk in &chunks {
            // Every other page goes back, so that no larger block is free.
            for page in (0..chunk.pages()).step_by(2) {
                // SAFETY: a page of the chunk that is not read any more.
                let failed = unsafe {
                    let place = chunk.pointer().add(page * PAGE).cast();
                    libc::madvise(place, PAGE, libc::MADV_DONTNEED)
                };
                ensure!(
                    failed == 0,
                    "MADV_DONTNEED: {}",
                    std::io::Error::last_os_error()
                );
            }
        }
        let before: Vec<Vec<u64>> = chunks.iter().map(frames).collect::<Result<_>>()?;
        fs::write("/proc/sys/vm/compact_memory", "1")?;
        for (chunk, before) in chunks.iter().zip(&before) {
            let after = frames(chunk)?;
            moved += before.iter().zip(&after).filter(|(a, b)| a != b).count();
        }
        for chunk in &chunks {
            for page in 0..chunk.pages() {
                if page % 2 == 1 {
                    chunk.check_page(page, round)?;
                } else {
                    ensure!(chunk.read(page * 512) == 0, "a dropped page has contents");
                }
            }
        }
    }
    ensure!(moved > 0, "compaction moved no page");
    Ok(())
}
