// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text from words, labels and branches between them.

use std::collections::BTreeMap;

/// Address of all texts of the tests.
pub const BASE: u64 = 0x40_0000;

/// Name of a place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// A function.
    Function(usize),
    /// A block of a function.
    Block(usize, usize),
    /// The shift at the start of a block's region.
    Back(usize, usize),
    /// The flush of a block's region.
    Flush(usize, usize),
    /// Where the number of an edge is added.
    Edge(usize, usize),
    /// A counted loop in a block.
    Loop(usize, usize),
}

/// A piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// An instruction.
    Word(u32),
    /// A place.
    At(Label),
    /// An instruction with a distance in words in 26 bits.
    Far(u32, Label),
    /// An instruction with a distance in words in 19 bits.
    Near(u32, Label),
    /// An instruction with a distance in words in 14 bits.
    Close(u32, Label),
    /// `adr`, with the number of the register.
    Address(u32, Label),
}

pub const NOP: u32 = 0xd503_201f;
pub const RET: u32 = 0xd65f_03c0;
pub const SAVE: u32 = 0xf81f_0ffe;
pub const LOAD: u32 = 0xf841_07fe;
pub const FINISH: u32 = 0xd400_0181;
pub const UNDEFINED: u32 = 0;

/// What a text consists of.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub items: Vec<Item>,
    /// Numbers of the items that belong to templates.
    pub templates: Vec<usize>,
}

impl Code {
    pub fn word(&mut self, word: u32) {
        self.items.push(Item::Word(word));
    }

    pub fn at(&mut self, label: Label) {
        self.items.push(Item::At(label));
    }

    pub fn push(&mut self, item: Item) {
        self.items.push(item);
    }

    pub fn template(&mut self, item: Item) {
        self.templates.push(self.items.len());
        self.items.push(item);
    }

    /// Writes the record of a register: the words are those that GNU as makes.
    pub fn record(&mut self, register: u32) {
        let words = [
            0xf800_8760 | register,
            0xca00_02d6 | register << 16,
            0xcad7_ced7,
            0x93d6_82d6,
            0xcad9_c319,
            0x8b19_02d6,
            0xcad9_aed9,
            0x8b17_0318,
            0xcad7_bf17,
            0x93d8_8318,
            0x8b17_02d6,
            0xcad7_ced7,
            0x93d6_82d6,
            0x8b19_0318,
            0xcad9_c319,
            0x8b19_02d6,
            0x8b17_0318,
        ];
        for word in words {
            self.template(Item::Word(word));
        }
    }

    /// Writes the start of a region with bits.
    pub fn region(&mut self, bits: u32, function: usize, block: usize) {
        let flush = Label::Flush(function, block);
        if bits == 1 {
            self.template(Item::Close(0xb7f0_001c, flush));
        } else {
            self.template(Item::Word(0xd340_fc00 | (63 - bits) << 16 | 28 << 5 | 26));
            self.template(Item::Near(0xb500_001a, flush));
        }
        self.at(Label::Back(function, block));
        let shift = 0xd340_0000 | (64 - bits) << 16 | (63 - bits) << 10 | 28 << 5 | 28;
        self.template(Item::Word(shift));
    }

    /// Writes the flush of a region.
    pub fn flush(&mut self, function: usize, block: usize) {
        self.at(Label::Flush(function, block));
        self.record(28);
        self.template(Item::Word(0xd280_003c));
        self.template(Item::Far(0x1400_0000, Label::Back(function, block)));
    }

    /// Writes the number of an edge.
    pub fn edge(&mut self, number: u32) {
        self.template(Item::Word(0x9100_039c | number << 10));
    }

    /// Makes the words, and the addresses of all labels.
    pub fn assemble(&self) -> (Vec<u32>, BTreeMap<Label, u64>) {
        let mut labels = BTreeMap::new();
        let mut count = 0;
        for item in &self.items {
            match item {
                Item::At(label) => {
                    labels.insert(*label, BASE + 4 * count);
                }
                _ => count += 1,
            }
        }
        let mut words = Vec::new();
        for item in &self.items {
            let here = BASE + 4 * words.len() as u64;
            // A label that was taken away leads to the beginning.
            let away = |label: &Label| {
                let to = labels.get(label).copied().unwrap_or(BASE);
                (to as i64 - here as i64) / 4
            };
            words.push(match item {
                Item::At(_) => continue,
                Item::Word(word) => *word,
                Item::Far(word, to) => word | away(to) as u32 & 0x3ff_ffff,
                Item::Near(word, to) => word | (away(to) as u32 & 0x7_ffff) << 5,
                Item::Close(word, to) => word | (away(to) as u32 & 0x3fff) << 5,
                Item::Address(register, to) => {
                    0x1000_0000 | register | (away(to) as u32 & 0x7_ffff) << 5
                }
            });
        }
        (words, labels)
    }
}
