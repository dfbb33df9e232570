// SPDX-License-Identifier: MIT OR Apache-2.0
//! A moment of a machine that writes down its steps: its tables, and where the trace stands.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use donjon_abi::trace::{BUFFERED, BYTES, SYMBOL, WORDS};
use donjon_audit::{Snapshot, Subject, linux, of_stopped, walk};
use donjon_machine::qemu::{Live, monitor};
use donjon_models::trace::oracle::Words;

/// How often the machine is stopped again because a CPU was inside the inner domain.
const RETRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(7);

/// The moment.
pub struct Look {
    snapshot: Snapshot,
    /// The kernel's root.
    pub root: u64,
    /// Roots of users.
    pub roots: Vec<u64>,
    /// Steps that were recorded before.
    pub position: usize,
    /// The last of them, which have not left the machine.
    pub waiting: Vec<u8>,
}

impl Look {
    /// Stops the machine at a moment at which no CPU is inside the inner domain, copies what is
    /// needed, and lets it go on.
    pub fn at(subject: &Subject, live: &Live<'_>, recorder: u64) -> Result<Self> {
        for _ in 0..RETRIES {
            monitor::stop(live.monitor)?;
            let snapshot = of_stopped(subject, live);
            monitor::resume(live.monitor)?;
            let snapshot = snapshot?;
            if !snapshot.running().any(donjon_audit::is_inside) {
                return Self::of(snapshot, recorder);
            }
            thread::sleep(PAUSE);
        }
        bail!("a CPU was inside the inner domain at each of {RETRIES} looks")
    }

    fn of(snapshot: Snapshot, recorder: u64) -> Result<Self> {
        let root = snapshot.running().next().map(|it| it.kernel_root());
        let root = root.context("no CPU runs")?;
        let word = |index: u64| {
            let address = recorder + index * 8;
            let leaf = walk::translate(&*snapshot.memory, root, address, true);
            let leaf = leaf.context("the recorder is not mapped")?;
            let word = snapshot.memory.word(leaf.pa + (address - leaf.va));
            word.context("the recorder is not in RAM")
        };
        let (position, waiting) = (word(0)?, word(1)?);
        ensure!(waiting < BUFFERED as u64, "the recorder is damaged");
        let waiting: Result<Vec<u64>> = (0..waiting * WORDS as u64)
            .map(|index| word(2 + index))
            .collect();
        let waiting = waiting?.into_iter().flat_map(u64::to_le_bytes).collect();
        let empty = snapshot
            .facts
            .linux
            .to_physical(snapshot.facts.linux.reserved_root);
        let mut loaded: BTreeSet<u64> = snapshot.running().map(|it| it.user_root()).collect();
        loaded.remove(&empty);
        loaded.extend(snapshot.facts.user_trees.values());
        let roots = loaded.into_iter().collect();
        Ok(Self {
            root,
            roots,
            position: position as usize,
            waiting,
            snapshot,
        })
    }

    /// What the tables of users are made of.
    pub fn arena(&self) -> Range<u64> {
        self.snapshot.facts.user_arena.clone()
    }

    /// What the CPUs have in TTBR0_EL1: root and ASID, none for the root that maps nothing.
    pub fn loaded(&self) -> Vec<(usize, Option<(u64, u16)>)> {
        let of = |ttbr0: u64| Some((ttbr0 & ((1 << 48) - 1), (ttbr0 >> 48) as u16));
        let cpus = self.snapshot.running();
        cpus.map(|it| {
            (
                it.number as usize,
                of(it.ttbr0).filter(|(_, asid)| *asid != 0),
            )
        })
        .collect()
    }

    /// The whole trace up to this moment: what is in the file, and what waits.
    pub fn trace(&self, file: &Path) -> Result<Vec<u8>> {
        let mut bytes = fs::read(file)?;
        let written = self.position * BYTES - self.waiting.len();
        ensure!(
            bytes.len() >= written,
            "the trace has {} bytes of {written}",
            bytes.len()
        );
        bytes.truncate(written);
        bytes.extend(&self.waiting);
        Ok(bytes)
    }
}

impl donjon_models::trace::Memory for Look {
    fn frame(&self, address: u64) -> Option<Box<Words>> {
        self.snapshot.memory.page(address)
    }
}

/// Where the recorder is, a virtual address of the inner view.
pub fn recorder(inner: &Path) -> Result<u64> {
    linux::addresses(inner)?(SYMBOL)
}
