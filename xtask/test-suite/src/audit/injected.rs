// SPDX-License-Identifier: MIT OR Apache-2.0
//! Violations that are words in memory.

use std::collections::BTreeSet;
use std::mem::offset_of;

use anyhow::{Context, Result};
use donjon_abi::boot_info::Arrival;
use donjon_abi::layout::{GATE, PAGE_SIZE, PHYSMAP_SLOT, TEXT_WINDOW};
use donjon_audit::Snapshot;
use donjon_audit::descriptor::{Entry, read};
use donjon_audit::memory::Memory;
use donjon_audit::walk::{Space, UPPER, Walks, translate};
use donjon_machine::gdb::Stub;
use donjon_machine::qemu::Live;

/// Page descriptor bits: valid page, AF, inner shareable.
const PAGE: u64 = 3 | 1 << 10 | 3 << 8;
/// Page descriptor bit: not writable.
pub const READ_ONLY: u64 = 1 << 7;
const USER: u64 = 1 << 6;
const NON_GLOBAL: u64 = 1 << 11;
const PXN: u64 = 1 << 53;
/// Page descriptor bit: not executable at EL0.
pub const UXN: u64 = 1 << 54;
/// Page descriptor bits of data that EL1 writes and nothing executes.
pub const DATA: u64 = PAGE | PXN | UXN;
const TEXT: u64 = PAGE | READ_ONLY | UXN;
const NON_CACHEABLE: u64 = 2 << 2;
const DEVICE: u64 = 4 << 2;
/// QEMU's fw_cfg on the machine `virt`, and an address where it has nothing.
const FW_CFG: u64 = 0x0902_0000;
const NOTHING: u64 = 0x0b00_0000;
/// The console of the machine `virt`.
const UART: u64 = 0x0900_0000;

/// What to write where.
pub struct Injected {
    /// What it violates.
    pub invariant: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Physical addresses and values.
    pub words: Vec<(u64, u64)>,
}

impl Injected {
    /// One word.
    pub fn word(invariant: &'static str, what: &'static str, at: u64, value: u64) -> Self {
        Self {
            invariant,
            what,
            words: vec![(at, value)],
        }
    }
}

/// An invalid entry of a table of level 3 that is of this space and for addresses from `least` on.
pub fn free_entry(memory: &dyn Memory, walks: &Walks<'_>, space: Space, least: u64) -> Result<u64> {
    let tables = walks
        .tables
        .iter()
        .filter(|(_, it)| it.space == space && it.level == 3 && it.va >= least);
    let free = |table: u64| (0..512).find(|it| memory.word(table + 8 * it) == Some(0));
    let mut entries = tables.filter_map(|(pa, _)| Some(pa + 8 * free(*pa)?));
    entries.next().context("every table of level 3 is full")
}

/// Addresses of the kernel's that are not in the linear map, whose entries are another matter.
pub const NOT_LINEAR: u64 = UPPER + (1 << 46);

/// Where in a guest there is a place for each violation.
pub struct Site<'a> {
    memory: &'a dyn Memory,
    root: u64,
    block: u64,
    vectors: u64,
    text: u64,
    inner: u64,
    /// First page of the inner domain's text, the gate page, the page that stays, and in it the
    /// entry of CPUs that arrive.
    inner_text: u64,
    gate: u64,
    stay: u64,
    arrival_entry: u64,
    /// A block of the linear map whose first page is zero, and its entry.
    block_of_zeros: u64,
    block_entry: u64,
    /// Invalid entries of a kernel and of a user table of level 3.
    kernel_entry: u64,
    user_entry: u64,
    user_root: u64,
    user_child: u64,
    /// The word in which the root of the process's ASID is written down.
    tree: u64,
    ordinary: u64,
}

impl<'a> Site<'a> {
    /// Looks for them. A process that has just begun, or is about to end, has not enough.
    pub fn of(snapshot: &'a Snapshot) -> Result<Self> {
        let linux = &snapshot.facts.linux;
        let reserved = linux.to_physical(linux.reserved_root);
        let roots = snapshot.running().map(|it| it.user_root());
        let mut sites = roots
            .filter(|it| *it != reserved)
            .map(|it| Self::in_process(snapshot, it));
        let first = sites.next().context("no CPU has a process")?;
        first.or_else(|why| sites.find_map(Result::ok).ok_or(why))
    }

    fn in_process(snapshot: &'a Snapshot, user_root: u64) -> Result<Self> {
        let memory = &*snapshot.memory;
        let linux = &snapshot.facts.linux;
        let root = snapshot
            .running()
            .next()
            .context("no CPU runs")?
            .kernel_root();
        let mut walks = Walks::new(memory);
        walks.kernel(root);
        walks.user(user_root);
        let free = |space, least| free_entry(memory, &walks, space, least);
        let user_child = (0..256)
            .filter_map(|it| memory.word(user_root + 8 * it))
            .find(|raw| matches!(read(*raw, 0), Entry::Table(_)));
        let pages: BTreeSet<u64> = walks
            .leaves
            .iter()
            .filter(|it| it.space == Space::User(user_root) && it.attributes().writable())
            .map(|it| it.pa)
            .collect();
        let inner_page = |va: u64| {
            let leaf = translate(memory, root, va, true).context("no inner domain")?;
            anyhow::Ok(leaf.pa + (va - leaf.va))
        };
        let mut blocks = walks.leaves.iter().filter(|it| {
            it.space == Space::Kernel
                && it.va >> 39 == UPPER >> 39
                && it.level == 2
                && it.attributes().writable()
                && memory
                    .page(it.pa)
                    .is_some_and(|it| it.iter().all(|word| *word == 0))
        });
        let zeros = blocks
            .next()
            .context("no block of memory begins with zeros")?;
        let table = walks
            .tables
            .iter()
            .find(|(_, it)| it.level == 2 && it.va == zeros.va & !((1 << 30) - 1))
            .context("the linear map has no table")?;
        let facts = &snapshot.facts;
        let mut trees = facts.user_trees.iter();
        let (asid, _) = trees
            .find(|(_, root)| **root == user_root)
            .context("a process has no tree")?;
        Ok(Self {
            inner_text: inner_page(TEXT_WINDOW)?,
            gate: inner_page(GATE)?,
            stay: facts.stay.start,
            arrival_entry: facts.loaded
                + facts.image.stay.arrival.start
                + offset_of!(Arrival, entry) as u64,
            block_of_zeros: zeros.pa,
            block_entry: table.0 + 8 * (zeros.va >> 21 & 511),
            memory,
            root,
            block: linux.to_physical(linux.table_block),
            vectors: linux.to_physical(linux.vectors),
            text: linux.to_physical(linux.text.end) - PAGE_SIZE,
            inner: snapshot
                .facts
                .inner
                .first()
                .context("no inner memory")?
                .start,
            kernel_entry: free(Space::Kernel, NOT_LINEAR)?,
            user_entry: free(Space::User(user_root), 0)?,
            user_root,
            user_child: user_child.context("a user root is empty")?,
            tree: (facts.user_tree_table.start + u64::from(*asid) * 4) & !7,
            ordinary: *pages.first().context("a process has no page of its own")?,
        })
    }
}

/// Writes words; returns what stood there, as `memory` has it.
pub fn write(
    memory: &dyn Memory,
    guest: &Live<'_>,
    words: &[(u64, u64)],
) -> Result<Vec<(u64, u64)>> {
    let old = words
        .iter()
        .map(|(at, _)| Some((*at, memory.word(*at)?)))
        .collect::<Option<_>>()
        .context("a violation to inject is not in RAM")?;
    let mut stub = Stub::connect(guest.gdb)?;
    for (at, value) in words {
        stub.write_physical(*at, &value.to_le_bytes())?;
    }
    Ok(old)
}

/// A violation of each invariant that memory can violate, and more where a second way is another
/// check.
pub fn all(site: &Site<'_>) -> Vec<Injected> {
    let inject = Injected::word;
    let kernel = |invariant, what, value| inject(invariant, what, site.kernel_entry, value);
    let user = |invariant, what, value| inject(invariant, what, site.user_entry, value);
    let physmap = site.root + 8 * PHYSMAP_SLOT as u64;
    let inner_half = site.memory.word(physmap + PAGE_SIZE / 2).unwrap_or(0);
    let instruction = |word: u32| u64::from(word) | 0xd503_201f << 32;
    let text = site.text & !(PAGE_SIZE - 1);
    let own = USER | NON_GLOBAL;
    let other = |at: u64| (at, site.memory.word(at).unwrap_or(0) ^ 1 << 40);
    let changed = |what, at| Injected {
        invariant: "I16",
        what,
        words: vec![other(at)],
    };
    let block_leaf = site.memory.word(site.block_entry).unwrap_or(0);
    vec![
        inject(
            "I1",
            "a second parent",
            site.user_root + 8 * 200,
            site.user_child,
        ),
        user(
            "I2",
            "a kernel table, writable for a process",
            (site.kernel_entry & !(PAGE_SIZE - 1)) | DATA | own,
        ),
        user(
            "I3",
            "a table of a tree, for its process",
            site.user_root | DATA | own | READ_ONLY,
        ),
        inject("I6", "a root that is no ASID's", site.tree, 0),
        kernel("I2", "the root, writable", site.root | DATA),
        user(
            "I2",
            "a table with DBM",
            (site.kernel_entry & !(PAGE_SIZE - 1)) | DATA | own | READ_ONLY | 1 << 51,
        ),
        kernel(
            "I3",
            "an inner frame, read-only",
            site.inner | DATA | READ_ONLY,
        ),
        kernel("I4", "writable and executable", site.ordinary | PAGE | UXN),
        kernel("I4", "text, writable", text | DATA),
        user(
            "I5",
            "a user page without PXN",
            site.ordinary | PAGE | UXN | own,
        ),
        inject(
            "I7",
            "the comparison gone",
            site.vectors + 0x200,
            instruction(0xd503_201f),
        ),
        inject("I8", "a write of TTBR0_EL1", text, instruction(0xd518_2000)),
        inject("I8", "HLT", text, instruction(0xd440_0000)),
        kernel(
            "I9",
            "a kernel page non-global",
            site.ordinary | DATA | NON_GLOBAL,
        ),
        user("I9", "a user page global", site.ordinary | DATA | USER),
        inject(
            "I9",
            "an outer entry for an inner slot",
            physmap,
            inner_half,
        ),
        kernel(
            "I10",
            "text, non-cacheable",
            text | DATA | READ_ONLY | NON_CACHEABLE,
        ),
        kernel(
            "I10",
            "cached data that is not shareable",
            site.ordinary | DATA & !(3 << 8),
        ),
        kernel(
            "I10",
            "a contiguous entry alone",
            site.ordinary | DATA | 1 << 52,
        ),
        kernel(
            "I13",
            "the vectors a second time",
            site.vectors & !(PAGE_SIZE - 1) | TEXT,
        ),
        inject(
            "I14",
            "a word in a page of zeros",
            site.block + 0x210,
            site.ordinary | 3,
        ),
        kernel("I15", "a withheld device", FW_CFG | DATA | DEVICE),
        user("I15", "no device at all", NOTHING | DATA | own | DEVICE),
        user("I15", "a device in a process", UART | DATA | own | DEVICE),
        Injected {
            invariant: "I1",
            what: "a table of a user in a block that is read-only and no pool",
            words: vec![
                (site.block_entry, block_leaf | READ_ONLY),
                (site.user_root + 8 * 201, site.block_of_zeros | 3),
            ],
        },
        changed("the inner domain's text", site.inner_text + 0x100),
        changed("the gate page", site.gate + 0x700),
        changed("the page where CPUs arrive", site.stay + 0x40),
        changed("where CPUs that arrive go on", site.arrival_entry),
    ]
}
