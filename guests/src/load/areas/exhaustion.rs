// SPDX-License-Identifier: MIT OR Apache-2.0
//! Out of memory.

use std::fs;

use anyhow::Result;
use nix::sys::signal::Signal;

use crate::child::Child;
use crate::memory::{Mapping, PAGE, TABLE_SPAN};

/// A child that takes all memory is killed, and we are not: once for pages, once for tables.
pub fn oom_kill() -> Result<()> {
    let ours = Mapping::anonymous(4 << 20)?;
    ours.stamp(1);
    for stride in [PAGE, TABLE_SPAN] {
        Child::start(|| {
            fs::write("/proc/self/oom_score_adj", "1000")?;
            // As much as an address space has room for, at this stride.
            let memory = Mapping::reserved((1 << 45).min(stride << 20))?;
            for page in (0..memory.pages()).step_by(stride / PAGE) {
                memory.stamp_page(page, 2);
            }
            anyhow::bail!("all of it fitted")
        })?
        .join_killed_by(Signal::SIGKILL)?;
        ours.check(1)?;
    }
    Ok(())
}
