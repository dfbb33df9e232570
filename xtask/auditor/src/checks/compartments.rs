// SPDX-License-Identifier: MIT OR Apache-2.0
//! I20, I21 and I22: the trees of compartments, the CPUs that are in one, and what is free.

use std::collections::{BTreeMap, BTreeSet};

use donjon_abi::tcr::{COMPARTMENT_ASID, INNER, INNER_TLBI, INSIDE};

use super::World;
use super::registers::{is_in_compartment, user_half};
use crate::descriptor::{self, Attributes, ENTRIES, Entry, shift};
use crate::frames::Class;
use crate::image::VECTORS_SIZE;
use crate::report::Violation;
use crate::snapshot::{Cpu, INNER_CODE};

/// One past the last address of a compartment's.
const END: u64 = 1 << 47;

/// MDE, KDE and SS are not shown by QEMU; these bits of SCTLR_EL1 are: EnTP2, EnFPM, EnIA, EnIB,
/// EnDA, EnDB, UMA, A.
const SCTLR_OFF: u64 = 1 << 60 | 1 << 34 | 1 << 31 | 1 << 30 | 1 << 27 | 1 << 13 | 1 << 9 | 1 << 1;

/// Checks all of them.
pub fn check(world: &World<'_>) -> Vec<Violation> {
    let facts = &world.snapshot.facts;
    let mut look = Look {
        world,
        used: BTreeMap::new(),
        lent: Vec::new(),
        constant: BTreeMap::new(),
        writable: BTreeSet::new(),
        violations: Vec::new(),
    };
    for (number, root) in &facts.compartments {
        look.own(*number, *root, 0, 0, *root);
        look.table(*number, *root, 0, 0);
    }
    look.lent();
    let in_one = world.snapshot.running();
    for cpu in in_one.filter(|it| is_in_compartment(facts, it)) {
        look.cpu(cpu);
    }
    let free = facts.private.iter().filter(|(_, owner)| **owner == 0);
    for (frame, _) in free {
        let page = world.snapshot.memory.page(*frame);
        if page.is_none_or(|words| words.iter().any(|word| *word != 0)) {
            look.wrong(
                "I22",
                None,
                *frame,
                "a free private frame is not zero".to_owned(),
            );
        }
    }
    look.violations
}

/// A page of a compartment whose frame a different compartment owns.
struct Lent {
    number: u32,
    va: u64,
    frame: u64,
    entry: u64,
    owner: u32,
}

struct Look<'a> {
    world: &'a World<'a>,
    /// By frame, the address at which a compartment has it.
    used: BTreeMap<u64, u64>,
    /// Pages whose frames are those of a different compartment.
    lent: Vec<Lent>,
    /// Private pages that a compartment may not write: the entry, by its number and the address.
    constant: BTreeMap<(u32, u64), u64>,
    /// Private frames that a compartment may write.
    writable: BTreeSet<u64>,
    violations: Vec<Violation>,
}

impl Look<'_> {
    fn wrong(&mut self, invariant: &'static str, va: Option<u64>, pa: u64, text: String) {
        self.violations.push(Violation {
            va,
            pa: Some(pa),
            ..Violation::plain(invariant, &self.world.owner(pa), text)
        });
    }

    /// A frame must be a compartment's own, and be used once.
    fn own(&mut self, number: u32, frame: u64, level: u8, va: u64, at: u64) {
        let owner = self.world.snapshot.facts.private.get(&frame).copied();
        if owner != Some(number) {
            let text = format!("compartment {number} uses a frame of {owner:?}, level {level}");
            self.wrong("I20", Some(va), frame, text);
        }
        if let Some(other) = self.used.insert(frame, at) {
            let text = format!("compartment {number} uses a frame that is used at {other:#x}");
            self.wrong("I20", Some(va), frame, text);
        }
    }

    fn table(&mut self, number: u32, table: u64, level: u8, va: u64) {
        let Some(words) = self.world.snapshot.memory.page(table) else {
            return self.wrong("I20", Some(va), table, "a table that is no RAM".to_owned());
        };
        for (index, word) in (0..ENTRIES).zip(words.iter()) {
            let va = va + (index << shift(level));
            let at = table + index * 8;
            match descriptor::read(*word, level) {
                Entry::Invalid => (),
                Entry::Table(below) if va < END => {
                    self.own(number, below, level + 1, va, at);
                    self.table(number, below, level + 1, va);
                }
                Entry::Leaf(frame) if va < END && level == 3 => {
                    self.leaf(number, va, frame, *word, at);
                }
                Entry::Table(other) | Entry::Leaf(other) => {
                    let text = format!("compartment {number} has an entry that no rule makes");
                    self.wrong("I20", Some(va), other, text);
                }
            }
        }
    }

    fn leaf(&mut self, number: u32, va: u64, frame: u64, word: u64, at: u64) {
        let attributes = Attributes(word);
        let class = self.world.frames.class(frame);
        let executable = attributes.executable_at_el0();
        let is_private = class == Class::Private;
        if is_private && attributes.writable() {
            self.writable.insert(frame);
        }
        let is_constant = is_private && !attributes.writable();
        match self.another_one(number, frame) {
            Some(owner) if is_constant => self.lent.push(Lent {
                number,
                va,
                frame,
                entry: word,
                owner,
            }),
            _ if is_private => self.own(number, frame, 3, va, at),
            _ => {}
        }
        if is_constant {
            self.constant.insert((number, va), word);
        }
        let checks = [
            (attributes.executable_at_el1(), "executable at EL1"),
            (attributes.global(), "global"),
            (
                executable && attributes.writable(),
                "writable and executable",
            ),
            (executable && !is_private, "executable and not private"),
            (
                !is_private && class != Class::Ordinary,
                "neither private nor ordinary",
            ),
        ];
        for (_, what) in checks.iter().filter(|(is_wrong, _)| *is_wrong) {
            let text = format!("a page of compartment {number} is {what}");
            self.wrong("I20", Some(va), frame, text);
        }
    }

    /// The owner of a frame if that is another compartment that is there.
    fn another_one(&self, number: u32, frame: u64) -> Option<u32> {
        let facts = &self.world.snapshot.facts;
        let owner = facts.private.get(&frame).copied();
        owner.filter(|it| *it != number && facts.compartments.contains_key(it))
    }

    /// A clone has code and constants of what it was made from, where that has them. Memory does
    /// not tell what that was: all pages from others must be one other's, which has them there
    /// itself.
    fn lent(&mut self) {
        let mut templates = BTreeMap::new();
        for it in std::mem::take(&mut self.lent) {
            let template = *templates.entry(it.number).or_insert(it.owner);
            let there = self.constant.get(&(it.owner, it.va)).copied();
            let wrong = [
                (
                    self.writable.contains(&it.frame),
                    "that another one may write",
                ),
                (template != it.owner, "of a second compartment"),
                (
                    there != Some(it.entry),
                    "that its owner does not have there so",
                ),
            ];
            for (_, what) in wrong.iter().filter(|(is_wrong, _)| *is_wrong) {
                let text = format!("compartment {} has a page {what}", it.number);
                self.wrong("I20", Some(it.va), it.frame, text);
            }
        }
    }

    fn cpu(&mut self, cpu: &Cpu) {
        let facts = &self.world.snapshot.facts;
        let root = cpu.user_root();
        let mut wrong = |text: String| {
            let owner = format!("CPU {}", cpu.number);
            self.violations.push(Violation {
                va: Some(cpu.pc),
                pa: Some(root),
                ..Violation::plain("I21", &owner, text)
            });
        };
        if ![INSIDE, INNER, INNER_TLBI].contains(&cpu.tcr) {
            wrong(format!("TCR_EL1 is {:#x}", cpu.tcr));
        }
        let asid = u64::from(COMPARTMENT_ASID) << 48;
        // All bits: CnP is one of them.
        let mut roots = facts.compartments.values();
        let is_compartments = roots.any(|it| cpu.ttbr0 == it | asid);
        let vectors = facts.image.context.end - VECTORS_SIZE;
        // On the way in and out some registers have been changed and some not.
        if cpu.tcr != INSIDE {
            if !is_compartments && !user_half(self.world, cpu).is_empty() {
                wrong(format!("TTBR0_EL1 is {:#x} on the way", cpu.ttbr0));
            }
            if cpu.vbar != facts.linux.vectors && cpu.vbar != vectors {
                wrong(format!("VBAR_EL1 is {:#x} on the way", cpu.vbar));
            }
            return;
        }
        if !is_compartments {
            wrong(format!("TTBR0_EL1 is {:#x}, no compartment's", cpu.ttbr0));
        }
        if cpu.vbar != vectors {
            wrong(format!(
                "VBAR_EL1 is {:#x}, not the inner domain's",
                cpu.vbar
            ));
        }
        if cpu.sctlr & SCTLR_OFF != 0 {
            wrong(format!("SCTLR_EL1 is {:#x}", cpu.sctlr));
        }
        let at_el0 = cpu.pstate & 0xf == 0;
        if at_el0 && cpu.pc >= END {
            wrong("a PC beyond a compartment's addresses".to_owned());
        }
        if !at_el0 && !INNER_CODE.contains(&cpu.pc) {
            wrong("EL1 runs with a compartment's TCR_EL1 and is not in inner code".to_owned());
        }
    }
}
