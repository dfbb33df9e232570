// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the inner domain's memory, and its metadata of frames.
//!
//! Nothing of this comes from the guest's console or from Linux's variables, which a hostile
//! kernel writes as it likes. The way goes from what QEMU loaded where to the kernel's root table
//! and to the page that stays, both of which the outer domain cannot write; from there to tables
//! and pages of the inner half, which are inner memory; and only there to the boot stage's
//! description.

use std::collections::BTreeSet;
use std::mem::offset_of;
use std::ops::Range;

use anyhow::{Context, Result, ensure};
use donjon_abi::boot_info::{Arrival, Bank, BootInfo};
use donjon_abi::layout::{BLOCK_SIZE, DEVICE_WINDOW, GATE, PHYSMAP_SLOT, WINDOW_SIZE};

use super::descriptor::{PAGE, shift};
use super::memory::Memory;
use super::walk::{Space, UPPER, Walks, translate};

/// Addresses that are known without asking the guest.
#[derive(Clone, Debug)]
pub struct Known {
    /// Physical address of the kernel's root table.
    pub root: u64,
    /// Physical addresses of the table block.
    pub table_block: u64,
    /// Physical address of the empty lower root.
    pub reserved_root: u64,
    /// The page that stays.
    pub stay: Range<u64>,
    /// Where in it the data of arriving CPUs are, a physical address.
    pub arrival: u64,
}

/// The inner domain's memory.
#[derive(Clone, Debug)]
pub struct Inner {
    /// The whole region.
    pub region: Range<u64>,
    /// The types of all frames.
    pub frame_table: Range<u64>,
    /// Tables of users.
    pub user_arena: Range<u64>,
    /// The root of each ASID among them, four bytes each: the number of its page, from 1 on.
    pub user_trees: Range<u64>,
    /// Who has each frame of private memory, four bytes each.
    pub private_words: Range<u64>,
    /// The root of each compartment, eight bytes each, or zero.
    pub compartment_roots: Range<u64>,
    /// Memory that no device reaches, for pools and private memory; empty where that is any memory.
    pub reserve: Range<u64>,
}

impl Inner {
    /// Finds it.
    ///
    /// # Errors
    ///
    /// If no page describes it, or two do.
    pub fn find(memory: &dyn Memory, known: &Known) -> Result<Self> {
        let pages = certain(memory, known)?;
        let (first, last) = (pages.first(), pages.last());
        let (Some(first), Some(last)) = (first.copied(), last.copied()) else {
            anyhow::bail!("the root table at {:#x} has no inner half", known.root);
        };
        let hull = first..last + PAGE;
        let mut found: Option<Self> = None;
        for page in hull.clone().step_by(PAGE as usize) {
            let Some(inner) = described(memory, page, known, &hull) else {
                continue;
            };
            if let Some(other) = &found {
                ensure!(
                    other.region == inner.region && other.frame_table == inner.frame_table,
                    "inner memory holds two descriptions of itself"
                );
            }
            found = Some(inner);
        }
        found.with_context(|| {
            format!(
                "no page of {:#x}-{:#x} describes the inner domain's memory",
                hull.start,
                hull.end - 1
            )
        })
    }
}

/// Pages that are inner memory for certain: what the inner half of the root leads to, its view of
/// physical memory and its devices aside, and the tables with which CPUs arrive.
fn certain(memory: &dyn Memory, known: &Known) -> Result<BTreeSet<u64>> {
    let mut walks = Walks::new(memory);
    walks.inner(known.root);
    let block = known.table_block..known.table_block + donjon_abi::layout::TABLE_BLOCK_SIZE;
    let tables = walks.tables.keys().copied();
    let mut pages: BTreeSet<u64> = tables.filter(|it| !block.contains(it)).collect();
    let physmap = PHYSMAP_SLOT as u64;
    let image = walks.leaves.iter().filter(|it| {
        it.space == Space::InnerOnly
            && (it.va - UPPER) >> shift(0) != physmap
            && !(DEVICE_WINDOW..DEVICE_WINDOW + WINDOW_SIZE).contains(&it.va)
    });
    for leaf in image {
        pages.extend([leaf.pa, leaf.pa + leaf.size() - PAGE]);
    }
    let gate = translate(memory, known.root, GATE, true).context("the gate is not mapped")?;
    pages.insert(gate.pa);
    let lower = memory.word(known.arrival + offset_of!(Arrival, ttbr0) as u64);
    let lower = lower.context("the page that stays is not in RAM")?;
    pages.insert(lower & !(PAGE - 1));
    Ok(pages)
}

/// What the boot stage wrote, if it stands at `page`.
fn described(memory: &dyn Memory, page: u64, known: &Known, hull: &Range<u64>) -> Option<Inner> {
    let words = memory.page(page)?;
    let word = |offset: usize| words.get(offset / 8).copied();
    let range = |offset: usize| {
        let start = word(offset + offset_of!(Bank, start))?;
        Some(start..word(offset + offset_of!(Bank, end))?)
    };
    let region = range(offset_of!(BootInfo, region))?;
    let frame_table = range(offset_of!(BootInfo, frame_table))?;
    let user_arena = range(offset_of!(BootInfo, user_arena))?;
    let user_trees = range(offset_of!(BootInfo, user_trees))?;
    let private_words = range(offset_of!(BootInfo, private_words))?;
    let compartment_roots = range(offset_of!(BootInfo, compartment_roots))?;
    let reserve = range(offset_of!(BootInfo, reserve))?;
    let within = |it: &Range<u64>| hull.contains(&it.start) && it.end <= region.end;
    let fits = region.start == hull.start
        && region.start.is_multiple_of(BLOCK_SIZE)
        && region.end >= hull.end
        && word(offset_of!(BootInfo, root))? == known.root
        && word(offset_of!(BootInfo, reserved_root))? == known.reserved_root
        && range(offset_of!(BootInfo, table_block))?.start == known.table_block
        && range(offset_of!(BootInfo, stays))? == known.stay
        && [
            &frame_table,
            &user_arena,
            &user_trees,
            &private_words,
            &compartment_roots,
        ]
        .into_iter()
        .all(within);
    fits.then_some(Inner {
        region,
        frame_table,
        user_arena,
        user_trees,
        private_words,
        compartment_roots,
        reserve,
    })
}
