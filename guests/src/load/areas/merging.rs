// SPDX-License-Identifier: MIT OR Apache-2.0
//! KSM: Linux merges equal pages.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::memory::{Mapping, PAGE};

const PAGES: usize = 512;
const COPIES: usize = 3;

fn set(name: &str, value: &str) -> Result<()> {
    let path = Path::new("/sys/kernel/mm/ksm").join(name);
    fs::write(&path, value).with_context(|| format!("writing {}", path.display()))
}

fn sharing() -> Result<usize> {
    let text = fs::read_to_string("/sys/kernel/mm/ksm/pages_sharing")?;
    Ok(text.trim().parse()?)
}

/// Merges equal pages, writes to some, lets the rest be unmerged.
pub fn merge() -> Result<()> {
    let copies: Vec<Mapping> = (0..COPIES)
        .map(|_| Mapping::anonymous(PAGES * PAGE))
        .collect::<Result<_>>()?;
    for copy in &copies {
        copy.stamp(1);
        copy.advise(libc::MADV_MERGEABLE)?;
    }
    set("sleep_millisecs", "0")?;
    set("pages_to_scan", "1000")?;
    set("run", "1")?;
    let result = shared_then_split(&copies);
    // 2 unmerges everything, 0 stops the thread.
    set("run", "2")?;
    for copy in &copies[1..] {
        copy.check(1)?;
    }
    copies[0].check(2)?;
    set("run", "0")?;
    result
}

fn shared_then_split(copies: &[Mapping]) -> Result<()> {
    let wanted = (COPIES - 1) * PAGES;
    let deadline = Instant::now() + Duration::from_secs(300);
    while sharing()? < wanted && Instant::now() < deadline {
        sleep(Duration::from_millis(20));
    }
    let shared = sharing()?;
    // The first copy is written whatever happened, for the checks that follow.
    copies[0].stamp(2);
    ensure!(shared >= wanted, "{shared} pages were merged, not {wanted}");
    for copy in &copies[1..] {
        copy.check(1)?;
    }
    copies[0].check(2)
}
