// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whose memory is searched, and where.

use std::fs;
use std::ops::Range;

use donjon_guests::memory::PAGE;
use nix::unistd::Pid;

use crate::wanted::Wanted;

/// Processes, and what is known about their memory.
pub struct Target {
    /// The processes.
    pub pids: Vec<Pid>,
    /// Where the messages are, in each of them or in compartments.
    pub messages: Range<u64>,
    /// Other addresses of their compartments.
    pub others: Vec<Range<u64>>,
    /// What is searched for.
    pub wanted: Wanted,
}

impl Target {
    /// Pages of a process: all that it has mapped, or those that it may write, as far as its map
    /// can be read, and what is known besides.
    pub fn pages(&self, pid: Pid, written: bool) -> Vec<u64> {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let mapped = maps.lines().filter_map(|line| {
            let mut words = line.split(' ');
            let (start, end) = words.next()?.split_once('-')?;
            let wanted = !written || words.next()?.contains('w');
            let number = |it| u64::from_str_radix(it, 16).ok();
            wanted.then_some(number(start)?..number(end)?)
        });
        let known = self.others.iter().cloned().chain([self.messages.clone()]);
        let mut pages: Vec<u64> = mapped
            .chain(known)
            .flat_map(|it| it.step_by(PAGE))
            .collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// Whether the messages are in a page.
    pub fn has_messages(&self, page: u64) -> bool {
        self.messages.contains(&page)
    }
}
