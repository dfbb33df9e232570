// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small program of attested form, written by hand.

use std::collections::BTreeMap;

/// Address of the text.
pub const BASE: u64 = 0x40_0000;

const B: u32 = 0x1400_0000;
const BL: u32 = 0x9400_0000;
const B_EQ: u32 = 0x5400_0000;
const NOP: u32 = 0xd503_201f;
const RET: u32 = 0xd65f_03c0;
const SAVE: u32 = 0xf81f_0ffe;
const LOAD: u32 = 0xf841_07fe;
const GIVE_UP: u32 = 0xd400_0081;
const FINISH: u32 = 0xd400_0181;

/// The steps of a record, and the store before them without its register.
const RECORD: [u32; 17] = [
    0xf800_8760,
    0xca00_02d6,
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

/// Words of a text, and branches that still lead to names.
#[derive(Default)]
struct Code {
    words: Vec<u32>,
    labels: BTreeMap<&'static str, u64>,
    /// Number of a word, lowest bit and bits of its distance, and where it leads.
    branches: Vec<(usize, u32, u32, &'static str)>,
}

impl Code {
    fn at(&mut self, label: &'static str) {
        let address = BASE + 4 * self.words.len() as u64;
        self.labels.insert(label, address);
    }

    fn word(&mut self, word: u32) {
        self.words.push(word);
    }

    fn to(&mut self, word: u32, label: &'static str) {
        let (low, bits) = if word >> 26 & 0x1f == 5 {
            (0, 26)
        } else {
            (5, 19)
        };
        self.branches.push((self.words.len(), low, bits, label));
        self.words.push(word);
    }

    fn record(&mut self, register: u32) {
        let [store, inject, ..] = RECORD;
        self.word(store | register);
        self.word(inject | register << 16);
        self.words.extend(&RECORD[2..]);
    }

    fn assemble(mut self) -> Text {
        for (at, low, bits, label) in self.branches {
            let here = BASE + 4 * at as u64;
            let distance = (self.labels[label] as i64 - here as i64) / 4;
            self.words[at] |= (distance as u32 & ((1 << bits) - 1)) << low;
        }
        Text {
            words: self.words,
            labels: self.labels,
        }
    }
}

/// A text and the addresses of its labels.
pub struct Text {
    pub words: Vec<u32>,
    pub labels: BTreeMap<&'static str, u64>,
}

/// Bits of the one region with a choice.
pub const BITS: u32 = 2;

/// Makes the program. Its function `work` loops: each round calls `check`, and then `open` through
/// a pointer. It ends with a return, or gives up. `never` is not called.
pub fn program() -> Text {
    let mut code = Code::default();
    code.at("_start");
    code.to(BL, "work");
    code.at("returned");
    code.word(FINISH);
    code.at("work");
    code.word(SAVE);
    code.at("loop");
    // lsr x26, x28, #61; cbnz x26; lsl x28, x28, #2
    code.word(0xd340_fc00 | (63 - BITS) << 16 | 28 << 5 | 26);
    code.to(0xb500_001a, "flush");
    code.at("back");
    code.word(0xd340_0000 | (64 - BITS) << 16 | (63 - BITS) << 10 | 28 << 5 | 28);
    code.to(B_EQ, "leaving");
    code.to(B_EQ, "losing");
    code.to(BL, "check");
    code.at("checked");
    code.to(0x1000_0009, "open");
    code.at("pointer");
    code.record(9);
    code.word(0xd63f_0120);
    code.at("opened");
    code.word(NOP);
    code.to(B, "loop");
    for (label, number, target) in [("leaving", 1, "out"), ("losing", 2, "quit")] {
        code.at(label);
        code.word(0x9100_039c | number << 10);
        code.to(B, target);
    }
    code.at("out");
    code.word(LOAD);
    code.at("link");
    code.record(30);
    code.word(RET);
    code.at("quit");
    code.word(GIVE_UP);
    code.at("flush");
    code.record(28);
    code.word(0xd280_003c);
    code.to(B, "back");
    for function in ["check", "open", "never"] {
        code.at(function);
        code.word(NOP);
        code.word(RET);
    }
    code.word(0);
    code.assemble()
}
