// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lat_pagefault` and `lat_mmap`: a file in memory, mapped and touched.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr;

use anyhow::{Context, Result, ensure};

use crate::kernel::check;
use crate::timing::{Plan, print};

const PAGE: usize = 4096;
/// The part of a mapping that `lat_mmap` writes to, and the distance of the writes.
const WRITTEN: usize = 10;
const STEP: usize = 16 << 10;

/// A shared mapping.
struct Mapping {
    start: *mut u8,
    size: usize,
}

impl Mapping {
    fn new(file: &File, size: usize, protection: i32) -> Result<Self> {
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                protection,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        ensure!(start != libc::MAP_FAILED, "mmap fails");
        Ok(Self {
            start: start.cast(),
            size,
        })
    }

    /// Maps a file for reading, with nothing of it in the tables.
    fn unread(file: &File, size: usize) -> Result<Self> {
        let mapping = Self::new(file, size, libc::PROT_READ)?;
        // SAFETY: the whole mapping, which was not used yet.
        let result = unsafe { libc::msync(mapping.start.cast(), size, libc::MS_INVALIDATE) };
        check(result.into(), "msync")?;
        Ok(mapping)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, which nothing refers to any more.
        unsafe { libc::munmap(self.start.cast(), self.size) };
    }
}

/// Times the first read of each page of `file`, in a random order; mapping and unmapping are
/// subtracted.
pub fn faults(plan: &Plan, name: &str) -> Result<()> {
    let file = File::open(name).with_context(|| name.to_owned())?;
    let pages = file.metadata()?.len() as usize / PAGE;
    let size = pages * PAGE;
    ensure!(size >= 1 << 20, "{name} is smaller than 1 MiB");
    let order = shuffled(pages);
    let fresh = || Ok(Some(Mapping::unread(&file, size)?));
    let again = |mapping: &mut Option<Mapping>| {
        mapping.take();
        *mapping = Some(Mapping::unread(&file, size)?);
        Ok::<_, anyhow::Error>(())
    };
    let without = plan.measure(fresh, |mapping, times| {
        (0..times).try_for_each(|_| again(mapping))
    })?;
    let with = plan.measure(fresh, |mapping, times| {
        for _ in 0..times {
            let start = mapping.as_ref().context("no mapping")?.start;
            for page in &order {
                // SAFETY: within the mapping.
                unsafe { start.add(page * PAGE).read_volatile() };
            }
            again(mapping)?;
        }
        Ok(())
    })?;
    print(
        &format!("Pagefaults on {name}"),
        (with - without) / pages as f64,
    );
    Ok(())
}

/// The numbers below `count` in an order that is the same each time.
fn shuffled(count: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    let mut state: u64 = 1;
    for last in (1..count).rev() {
        // A step of a linear congruential generator; its high bits are the random ones.
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        numbers.swap(last, (state >> 33) as usize % (last + 1));
    }
    numbers
}

/// Times mapping `size` bytes of a file, writing to a tenth of it, and unmapping.
pub fn mappings(plan: &Plan, size: &str, name: &str) -> Result<()> {
    let size = bytes(size).context("a size such as 32m")?;
    let file = File::options().read(true).write(true).open(name);
    let file = file.with_context(|| name.to_owned())?;
    ensure!(
        file.metadata()?.len() as usize >= size,
        "{name} is too small"
    );
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let figure = plan.measure(
        || Ok(()),
        |(), times| {
            for _ in 0..times {
                let mapping = Mapping::new(&file, size, protection)?;
                for offset in (0..size / WRITTEN).step_by(STEP) {
                    // SAFETY: within the mapping.
                    unsafe { mapping.start.add(offset).write_volatile(0) };
                }
            }
            Ok(())
        },
    )?;
    eprintln!("{:.6} {figure:.0}", size as f64 / 1e6);
    Ok(())
}

fn bytes(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(['k', 'K', 'm', 'M']);
    let shift = match &text[digits.len()..] {
        "" => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(1 << shift)
}
