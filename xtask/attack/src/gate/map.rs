// SPDX-License-Identifier: MIT OR Apache-2.0
//! What may be fetched while `TCR_EL1` is not the outer value: gate, vectors, inner text.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use donjon_abi::layout::{GATE, GATE_TLBI_LIST, PAGE_SIZE, TEXT_WINDOW};
use donjon_abi::tcr::{INNER, INNER_TLBI, T1SZ_INNER, T1SZ_OUTER};
use donjon_machine::arguments::Switch;
use object::{Object, ObjectSegment, ObjectSymbol, SegmentFlags};

use super::ram::Copy;

/// `MSR TCR_EL1, x18`.
pub const WRITE: u32 = 0xd518_2052;
/// `BR x18`.
const BRANCH: u32 = 0xd61f_0240;
/// Bytes of a vector slot, and the slots for exceptions from EL1.
pub const SLOT: u64 = 0x80;
/// How many of them there are: with SP_EL0, then with SP_EL1.
pub const SLOTS: u64 = 8;
/// Words of a slot that compare.
const COMPARISON: u64 = 7;

/// Whose an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchPlace {
    /// The gate page.
    Gate,
    /// The vectors' comparison and the way to the repair entry.
    Vectors,
    /// The last page of inner text, written by hand.
    InnerGate,
    /// Inner text made by the compiler.
    Inner,
    /// Anywhere else.
    Outside,
}

/// A page of instructions as it has to be.
#[derive(Clone, Debug)]
pub struct Page {
    /// Physical address of the page.
    pub frame: u64,
    /// Words of the page.
    pub words: Vec<u32>,
}

/// Where everything is.
#[derive(Clone, Debug)]
pub struct Map {
    /// `TCR_EL1` of the inner view.
    pub inner: u64,
    /// The gate page.
    pub gate: Page,
    /// The value of `VBAR_EL1`.
    pub vectors: u64,
    /// The page that it points to.
    pub vectors_page: Page,
    /// Inner text by virtual address.
    pub text: BTreeMap<u64, Page>,
    /// Inner functions by name.
    pub symbols: BTreeMap<&'static str, u64>,
}

/// Names in the inner image that runs look at, and how each ends.
const SYMBOLS: [(&str, &str); 5] = [
    ("inner", "donjon_gate_inner"),
    ("other", "donjon_gate_other"),
    ("return", "donjon_gate_return"),
    ("exit", "donjon_gate_exit_write"),
    ("panic", "rust_begin_unwind"),
];

impl Map {
    /// Reads the map off a copy of memory and the inner image on the host. What the inner image has
    /// to say of its text must be what is in memory.
    pub fn new(memory: &Copy, root: u64, vectors: u64, inner: &Path, mode: Switch) -> Result<Self> {
        let page = |size_offset, address: u64| {
            let walked = memory.walk(root, size_offset, address & !(PAGE_SIZE - 1));
            let (frame, executable) =
                walked.with_context(|| format!("{address:#x} is unmapped"))?;
            ensure!(executable, "{address:#x} is not executable");
            let words = memory.frame(frame).context("a page outside RAM")?;
            anyhow::Ok(Page { frame, words })
        };
        let bytes = fs::read(inner)?;
        let file = object::File::parse(&*bytes)?;
        let mut text = BTreeMap::new();
        let mut gate = None;
        for segment in file.segments() {
            let SegmentFlags::Elf { p_flags, .. } = segment.flags() else {
                continue;
            };
            if !p_flags.contains(object::elf::PF_X) || segment.address() < TEXT_WINDOW {
                continue;
            }
            for (number, linked) in segment.data()?.chunks(PAGE_SIZE as usize).enumerate() {
                let address = segment.address() + number as u64 * PAGE_SIZE;
                let page = page(T1SZ_INNER, address)?;
                // The boot stage fills the list at the end of the gate page.
                let known = if address == GATE {
                    GATE_TLBI_LIST
                } else {
                    linked.len()
                };
                let (words, _) = linked[..known.min(linked.len())].as_chunks::<4>();
                let same = words
                    .iter()
                    .zip(&page.words)
                    .all(|(a, b)| u32::from_le_bytes(*a) == *b);
                ensure!(same, "the page at {address:#x} is not the inner image's");
                if address == GATE {
                    gate = Some(page);
                } else {
                    text.insert(address, page);
                }
            }
        }
        let symbols = SYMBOLS.iter().filter_map(|(name, part)| {
            let found = file
                .symbols()
                .find(|it| it.name().is_ok_and(|it| it.ends_with(part)));
            found.map(|it| (*name, it.address()))
        });
        let map = Self {
            inner: if mode == Switch::Tlbi {
                INNER_TLBI
            } else {
                INNER
            },
            gate: gate.context("the inner image has no gate page")?,
            vectors,
            vectors_page: page(T1SZ_OUTER, vectors)?,
            text,
            symbols: symbols.collect(),
        };
        ensure!(
            map.symbols.len() == SYMBOLS.len(),
            "the inner image lacks a symbol"
        );
        let writes = if mode == Switch::Strict { 3 } else { 1 };
        ensure!(
            map.writes().len() == writes,
            "not {writes} writes in the gate page"
        );
        Ok(map)
    }

    /// Addresses of the writes of `TCR_EL1` in the gate page.
    pub fn writes(&self) -> Vec<u64> {
        let words = (0..).zip(&self.gate.words);
        let writes = words.filter(|(_, word)| **word == WRITE);
        writes
            .map(|(index, _): (u64, _)| GATE + index * 4)
            .collect()
    }

    /// The words of the gate page that are no padding, as addresses.
    pub fn coded(&self) -> Vec<u64> {
        let words = (0..).zip(&self.gate.words[..GATE_TLBI_LIST / 4]);
        let coded = words.filter(|(_, word)| **word != 0);
        coded.map(|(index, _): (u64, _)| GATE + index * 4).collect()
    }

    /// Where a symbol is.
    pub fn symbol(&self, name: &str) -> u64 {
        self.symbols.get(name).copied().unwrap_or_default()
    }

    /// Whose the instruction at an address is, which word it has to be, and where that stands.
    pub fn expected(&self, pc: u64) -> (FetchPlace, u32, u64) {
        let page = pc & !(PAGE_SIZE - 1);
        let offset = pc - page;
        let of = |place, it: &Page| {
            let word = it.words.get(offset as usize / 4).copied().unwrap_or(0);
            (place, word, it.frame + offset)
        };
        if page == GATE {
            return of(FetchPlace::Gate, &self.gate);
        }
        if page == self.vectors & !(PAGE_SIZE - 1) && self.compares(pc) {
            return of(FetchPlace::Vectors, &self.vectors_page);
        }
        match self.text.get(&page) {
            Some(it) if page == GATE - PAGE_SIZE => of(FetchPlace::InnerGate, it),
            Some(it) => of(FetchPlace::Inner, it),
            None => (FetchPlace::Outside, 0, 0),
        }
    }

    /// Whether the word at an address belongs to the comparison in a vector slot, or to what
    /// follows a mismatch.
    pub fn compares(&self, pc: u64) -> bool {
        let in_slot = (pc.wrapping_sub(self.vectors) < SLOT * SLOTS)
            && (pc - self.vectors) % SLOT < COMPARISON * 4;
        in_slot || self.mismatch().is_some_and(|it| it.contains(&pc))
    }

    /// Where a comparison leads that fails: to the branch to the gate.
    fn mismatch(&self) -> Option<std::ops::Range<u64>> {
        let offset = (self.vectors & (PAGE_SIZE - 1)) as usize / 4;
        let branch = *self
            .vectors_page
            .words
            .get(offset + COMPARISON as usize - 1)?;
        // CBNZ x18, with a distance in words in bits 23 to 5.
        if branch & 0xff00_001f != 0xb500_0012 {
            return None;
        }
        let distance = i64::from((branch << 8).cast_signed() >> 13) * 4;
        let start = (self.vectors + (COMPARISON - 1) * 4).wrapping_add_signed(distance);
        let words = self
            .vectors_page
            .words
            .get((start % PAGE_SIZE) as usize / 4..)?;
        let length = words.iter().take(8).position(|it| *it == BRANCH)? as u64 + 1;
        Some(start..start + length * 4)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const VECTORS: u64 = 0xffff_c000_8001_1000;
    pub const GATE_FRAME: u64 = 0x4fc1_0000;

    /// A gate with one write, vectors that compare, two pages of inner text.
    pub fn map() -> Map {
        let page = |frame, word| Page {
            frame,
            words: vec![word; 1024],
        };
        let mut gate = page(GATE_FRAME, 0);
        gate.words[0x94 / 4] = WRITE;
        let mut vectors_page = page(0x4021_1000, 0xd503_201f);
        vectors_page.words[6] = 0xb500_0012 | (0x800 / 4 - 6) << 5;
        vectors_page.words[0x810 / 4] = BRANCH;
        let text = [
            (TEXT_WINDOW, page(0x4fc0_0000, 0xd503_201f)),
            (GATE - PAGE_SIZE, page(0x4fc0_1000, 0xd503_201f)),
        ];
        Map {
            inner: INNER,
            gate,
            vectors: VECTORS,
            vectors_page,
            text: text.into(),
            symbols: [("other", GATE - 0x100), ("inner", GATE - 0x9c)].into(),
        }
    }

    #[test]
    fn each_address_has_an_owner() {
        let map = map();
        assert_eq!(
            map.expected(GATE + 0x94),
            (FetchPlace::Gate, WRITE, GATE_FRAME + 0x94)
        );
        assert_eq!(map.expected(GATE - 4).0, FetchPlace::InnerGate);
        assert_eq!(map.expected(TEXT_WINDOW + 8).0, FetchPlace::Inner);
        assert_eq!(map.expected(TEXT_WINDOW + 0x1000).0, FetchPlace::Outside);
        assert_eq!(map.writes(), [GATE + 0x94]);
    }

    #[test]
    fn of_the_vectors_only_comparison_and_mismatch_count() {
        let map = map();
        for (offset, place) in [
            (0, FetchPlace::Vectors),
            (0x18, FetchPlace::Vectors),
            (0x1c, FetchPlace::Outside),
            (0x380, FetchPlace::Vectors),
            (0x400, FetchPlace::Outside),
            (0x7fc, FetchPlace::Outside),
            (0x800, FetchPlace::Vectors),
            (0x810, FetchPlace::Vectors),
            (0x814, FetchPlace::Outside),
        ] {
            assert_eq!(map.expected(VECTORS + offset).0, place, "{offset:#x}");
        }
    }
}
