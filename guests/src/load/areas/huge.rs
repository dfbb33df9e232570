// SPDX-License-Identifier: MIT OR Apache-2.0
//! Huge pages: transparent, hugetlb, contiguous.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::child::{Child, skip};
use crate::memory::{Mapping, PAGE, TABLE_SPAN};

/// `MADV_COLLAPSE` of Linux's `uapi/asm-generic/mman-common.h`, which the C library does not name
/// yet.
const MADV_COLLAPSE: i32 = 25;
/// Where Linux says who gets transparent ones.
const ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
/// Huge pages that each trial has.
const COUNT: usize = 4;
/// Pages of 4 KiB in one of 2 MiB.
const PAGES: usize = TABLE_SPAN / PAGE;
/// Where the trials of transparent ones are, aligned to their size.
const PLACE: usize = 0x50_0000_0000;

/// Transparent ones: made by a fault and by a collapse, copied on write, split by changes of a
/// part, moved, and given up.
pub fn transparent() -> Result<()> {
    if !fs::exists(ENABLED)? {
        return Err(skip("this kernel has none"));
    }
    // With little memory Linux begins without.
    fs::write(ENABLED, "always")?;
    let result = of_all_kinds();
    fs::write(ENABLED, "madvise")?;
    result
}

fn of_all_kinds() -> Result<()> {
    let mut memory = Mapping::at(PLACE, COUNT * TABLE_SPAN)?;
    memory.advise(libc::MADV_HUGEPAGE)?;
    memory.stamp(1);
    ensure!(huge_kibibytes()? > 0, "no huge page was made");
    memory.check(1)?;
    // Each side of a fork keeps its own.
    Child::start(|| {
        memory.check(1)?;
        memory.stamp(2);
        memory.check(2)
    })?
    .join()?;
    memory.check(1)?;
    memory.stamp(3);
    // One page in the midst of the first, half of the second.
    memory.protect(5, 1, libc::PROT_READ)?;
    memory.protect(PAGES, PAGES / 2, libc::PROT_READ)?;
    memory.check(3)?;
    memory.protect(0, COUNT * PAGES, libc::PROT_READ | libc::PROT_WRITE)?;
    memory.stamp(4);
    memory.move_to(PLACE + 64 * TABLE_SPAN, COUNT * TABLE_SPAN)?;
    memory.check(4)?;
    memory.move_to(PLACE + 128 * TABLE_SPAN + 3 * PAGE, COUNT * TABLE_SPAN)?;
    memory.check(4)?;
    drop(memory);
    collapse()
}

/// Small pages become a huge one, with what they hold.
fn collapse() -> Result<()> {
    let memory = Mapping::at(PLACE, COUNT * TABLE_SPAN)?;
    memory.advise(libc::MADV_NOHUGEPAGE)?;
    memory.stamp(5);
    memory.advise(libc::MADV_HUGEPAGE)?;
    // It gives up where a page is in use for a moment.
    let deadline = Instant::now() + Duration::from_secs(60);
    while let Err(error) = memory.advise(MADV_COLLAPSE) {
        if Instant::now() >= deadline {
            return Err(error);
        }
        sleep(Duration::from_millis(20));
    }
    ensure!(
        huge_kibibytes()? >= (COUNT * TABLE_SPAN / 1024) as u64,
        "not all was collapsed"
    );
    memory.check(5)?;
    memory.stamp(6);
    memory.advise(libc::MADV_DONTNEED)?;
    let words = memory.bytes() / 8;
    ensure!(
        (0..words)
            .step_by(PAGE / 8)
            .all(|word| memory.read(word) == 0),
        "memory that was given up is not empty"
    );
    Ok(())
}

/// Huge memory of this process.
fn huge_kibibytes() -> Result<u64> {
    let text = fs::read_to_string("/proc/self/smaps_rollup")?;
    let line = text
        .lines()
        .find_map(|it| it.strip_prefix("AnonHugePages:"));
    let number = line.and_then(|it| it.trim().strip_suffix(" kB"));
    Ok(number.context("no AnonHugePages")?.trim().parse()?)
}

/// Reserved ones of each size that there is memory for: shared, private and copied on write.
pub fn reserved() -> Result<()> {
    let directory = "/sys/kernel/mm/hugepages";
    if !fs::exists(directory)? {
        return Err(skip("this kernel has none"));
    }
    for kibibytes in [2048, 32768] {
        let size = kibibytes * 1024;
        let file = format!("{directory}/hugepages-{kibibytes}kB/nr_hugepages");
        let wanted = if size > 8 * TABLE_SPAN { 2 } else { 2 * COUNT };
        let reserved = fs::write(&file, wanted.to_string());
        // The largest ones are more than the allocator of pages has, unless it is told at boot.
        if size > TABLE_SPAN && reserved.is_err() {
            continue;
        }
        reserved.with_context(|| file.clone())?;
        let there: usize = fs::read_to_string(&file)?.trim().parse()?;
        let result = match there / 2 {
            // The largest ones want memory in one piece.
            0 if size > TABLE_SPAN => Ok(()),
            0 => Err(anyhow::anyhow!("no page of {kibibytes} KiB")),
            count => of_size(size, count).with_context(|| format!("pages of {kibibytes} KiB")),
        };
        fs::write(&file, "0")?;
        result?;
    }
    Ok(())
}

fn of_size(size: usize, count: usize) -> Result<()> {
    let shared = Mapping::huge(size, count, libc::MAP_SHARED)?;
    shared.stamp(1);
    Child::start(|| {
        shared.check(1)?;
        shared.stamp(2);
        Ok(())
    })?
    .join()?;
    shared.check(2)?;
    drop(shared);
    let private = Mapping::huge(size, count, libc::MAP_PRIVATE)?;
    private.stamp(3);
    Child::start(|| {
        private.check(3)?;
        private.stamp(4);
        private.check(4)
    })?
    .join()?;
    private.check(3)?;
    private.protect(0, private.pages(), libc::PROT_READ)?;
    private.check(3)?;
    private.protect(0, private.pages(), libc::PROT_READ | libc::PROT_WRITE)?;
    private.stamp(5);
    private.check(5)
}
