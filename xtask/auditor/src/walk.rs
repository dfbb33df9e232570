// SPDX-License-Identifier: MIT OR Apache-2.0
//! Walks all tables of a stopped machine.

use std::collections::BTreeMap;
use std::fmt;

use super::descriptor::{self, Attributes, ENTRIES, Entry, PAGE, shift};
use super::memory::Memory;
use super::report::Violation;
use donjon_abi::layout::{INNER_SLOT, PHYSMAP_SLOT, ROOT_HALF};

/// First address of the outer view's upper range.
pub const UPPER: u64 = 0xffff_8000_0000_0000;

/// Through which part of which root something is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// The outer half of the kernel's root.
    Kernel,
    /// A slot of its inner half that the outer half has not.
    InnerOnly,
    /// The user tables below this root.
    User(u64),
}

impl Space {
    /// Whether the outer view reaches it.
    pub fn outer(self) -> bool {
        self != Self::InnerOnly
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel => f.write_str("kernel tables"),
            Self::InnerOnly => f.write_str("inner-only tables"),
            Self::User(root) => write!(f, "user root {root:#x}"),
        }
    }
}

/// A table, where it was met first.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Level of the table, 0 for a root.
    pub level: u8,
    /// First address that it translates.
    pub va: u64,
    /// Physical address of the entry that names it; none for a root.
    pub parent: Option<u64>,
    /// The entry that names the table.
    pub descriptor: u64,
    /// Through what.
    pub space: Space,
}

/// A valid leaf entry.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// First address that it translates.
    pub va: u64,
    /// What it shows.
    pub pa: u64,
    /// Level of its table.
    pub level: u8,
    /// The entry.
    pub descriptor: u64,
    /// Through what.
    pub space: Space,
}

impl Leaf {
    /// Bytes.
    pub const fn size(&self) -> u64 {
        1 << shift(self.level)
    }

    /// Permissions and attributes.
    pub const fn attributes(&self) -> Attributes {
        Attributes(self.descriptor)
    }

    /// A violation that this leaf is.
    pub fn violates(&self, invariant: &'static str, pa: u64, owner: &str, text: &str) -> Violation {
        Violation {
            invariant,
            va: Some(self.va + (pa - self.pa)),
            pa: Some(pa),
            level: Some(self.level),
            descriptor: Some(self.descriptor),
            owner: owner.to_owned(),
            text: format!("{text}, through {}", self.space),
        }
    }
}

/// What walks have met.
pub struct Walks<'a> {
    memory: &'a dyn Memory,
    /// Tables by physical address.
    pub tables: BTreeMap<u64, Table>,
    /// All leaves.
    pub leaves: Vec<Leaf>,
    /// Tables with a second parent, level or address, and tables that are not in RAM.
    pub violations: Vec<Violation>,
    done: BTreeMap<(u64, u8), ()>,
}

impl<'a> Walks<'a> {
    /// Nothing yet.
    pub fn new(memory: &'a dyn Memory) -> Self {
        Self {
            memory,
            tables: BTreeMap::new(),
            leaves: Vec::new(),
            violations: Vec::new(),
            done: BTreeMap::new(),
        }
    }

    /// Walks the kernel's root. The inner half counts where it differs from the outer one.
    pub fn kernel(&mut self, root: u64) {
        let Some(words) = self.enter(root, root_table(Space::Kernel, UPPER)) else {
            return;
        };
        let (outer, inner) = words.split_at(ROOT_HALF);
        for (slot, (outer, inner)) in outer.iter().zip(inner).enumerate() {
            let va = UPPER + ((slot as u64) << shift(0));
            let at = root + 8 * slot as u64;
            self.entry(*outer, at, 0, va, Space::Kernel);
            if inner != outer {
                self.entry(*inner, at + PAGE / 2, 0, va, Space::InnerOnly);
            }
        }
    }

    /// Walks the slots of the inner domain, which the inner half of the kernel's root alone has.
    pub fn inner(&mut self, root: u64) {
        let Some(words) = self.enter(root, root_table(Space::Kernel, UPPER)) else {
            return;
        };
        let (_, inner) = words.split_at(ROOT_HALF);
        for slot in [PHYSMAP_SLOT, INNER_SLOT] {
            let at = root + PAGE / 2 + 8 * slot as u64;
            let va = UPPER + ((slot as u64) << shift(0));
            self.entry(inner[slot], at, 0, va, Space::InnerOnly);
        }
    }

    /// Walks a user root.
    pub fn user(&mut self, root: u64) {
        let space = Space::User(root);
        if let Some(words) = self.enter(root, root_table(space, 0)) {
            self.entries(&words[..], root, 0, 0, space);
        }
    }

    fn entries(&mut self, words: &[u64], table: u64, level: u8, base: u64, space: Space) {
        for (index, raw) in words.iter().enumerate() {
            if raw & 1 == 1 {
                let va = base + ((index as u64) << shift(level));
                self.entry(*raw, table + 8 * index as u64, level, va, space);
            }
        }
    }

    fn entry(&mut self, raw: u64, at: u64, level: u8, va: u64, space: Space) {
        match descriptor::read(raw, level) {
            Entry::Invalid => (),
            Entry::Leaf(pa) => self.leaves.push(Leaf {
                va,
                pa,
                level,
                descriptor: raw,
                space,
            }),
            Entry::Table(next) => {
                let table = Table {
                    level: level + 1,
                    va,
                    parent: Some(at),
                    descriptor: raw,
                    space,
                };
                if let Some(words) = self.enter(next, table) {
                    self.entries(&words[..], next, level + 1, va, space);
                }
            }
        }
    }

    /// Notes a table; its words if its entries have not been read at this level yet.
    fn enter(&mut self, pa: u64, table: Table) -> Option<Box<super::memory::Words>> {
        let mut wrong = |text: String, owner: String| {
            self.violations.push(Violation {
                invariant: "I1",
                va: Some(table.va),
                pa: Some(pa),
                level: Some(table.level),
                descriptor: Some(table.descriptor),
                owner,
                text,
            });
        };
        match self.tables.get(&pa) {
            Some(first) if first.parent.is_none() && table.parent.is_none() => (),
            Some(first) => {
                let parent = |it: &Table| match it.parent {
                    Some(at) => format!("the entry at {at:#x}, level {}", it.level),
                    None => "TTBR, level 0".to_owned(),
                };
                wrong(
                    format!(
                        "a table has two parents: {} and {}",
                        parent(first),
                        parent(&table)
                    ),
                    format!("{} at {:#x}", first.space, first.va),
                );
            }
            None => {
                self.tables.insert(pa, table);
            }
        }
        if self.done.insert((pa, table.level), ()).is_some() {
            return None;
        }
        let words = self.memory.page(pa);
        if words.is_none() {
            wrong("a table is not in RAM".to_owned(), "no RAM".to_owned());
        }
        words
    }
}

fn root_table(space: Space, va: u64) -> Table {
    Table {
        level: 0,
        va,
        parent: None,
        descriptor: 0,
        space,
    }
}

/// Physical address and leaf of an address of the upper range.
pub fn translate(memory: &dyn Memory, root: u64, va: u64, inner: bool) -> Option<Leaf> {
    let half = ROOT_HALF as u64;
    let first = (va >> shift(0)) % half + if inner { half } else { 0 };
    leaf_of(memory, root, va, first, Space::Kernel)
}

/// The leaf of an address of the lower range, below a user's or a compartment's root.
pub fn translate_lower(memory: &dyn Memory, root: u64, va: u64) -> Option<Leaf> {
    let first = va >> shift(0) & (ENTRIES - 1);
    leaf_of(memory, root, va, first, Space::User(root))
}

/// The leaf of an address whose entry in the root is number `first`.
fn leaf_of(memory: &dyn Memory, root: u64, va: u64, first: u64, space: Space) -> Option<Leaf> {
    let mut table = root;
    for level in 0..4 {
        let index = if level == 0 {
            first
        } else {
            va >> shift(level) & (ENTRIES - 1)
        };
        let raw = memory.word(table + 8 * index)?;
        match descriptor::read(raw, level) {
            Entry::Invalid => return None,
            Entry::Table(next) => table = next,
            Entry::Leaf(pa) => {
                return Some(Leaf {
                    va: va & !((1 << shift(level)) - 1),
                    pa,
                    level,
                    descriptor: raw,
                    space,
                });
            }
        }
    }
    None
}
