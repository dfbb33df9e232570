// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small machine, and traces of it.

use std::collections::BTreeMap;

use donjon_tests::trace::oracle::Words;
use donjon_tests::trace::{Action, Event, Memory, Oracle, Rule};

/// A block of memory with tables: the kernel's of levels 0 to 3, then those of two user roots.
pub const KERNEL: [u64; 4] = [0x20_0000, 0x20_1000, 0x20_2000, 0x20_3000];
/// Loaded on CPU 0 with ASID 5.
pub const USER: [u64; 4] = [0x20_4000, 0x20_5000, 0x20_6000, 0x20_7000];
/// Not loaded.
pub const OTHER: [u64; 4] = [0x20_8000, 0x20_9000, 0x20_a000, 0x20_b000];
/// Free frames.
pub const FREE: u64 = 0x20_c000;
/// A block of ordinary memory.
pub const BLOCK: u64 = 0x40_0000;
/// The entry of the linear map that shows it.
pub const LINEAR: u64 = KERNEL[2] + 8;
/// First address of the kernel's tables, and the same in the wide view.
pub const UPPER: u64 = 0xffff_8000_0000_0000;
/// The address of that in the wide view.
pub const WIDE: u64 = 0xffff_0000_0000_0000;
/// First ASID of the first root.
pub const ASID: u16 = 5;
pub const TABLE: u64 = 0b11;
/// A writable page of a user, at the first entry of each level 3 table.
pub const PAGE: u64 = 0x60_0000 | USER_PAGE;
pub const USER_PAGE: u64 = 0b11 | 3 << 8 | 1 << 10 | 1 << 11 | 1 << 53;
pub const READ_ONLY: u64 = 1 << 7;

/// The words that are not zero.
#[derive(Clone, Default)]
pub struct Contents(BTreeMap<u64, u64>);

impl Memory for Contents {
    fn frame(&self, address: u64) -> Option<Box<Words>> {
        let mut words = Box::new([0; 512]);
        for (at, word) in self.0.range(address..address + 4096) {
            words[((at - address) / 8) as usize] = *word;
        }
        Some(words)
    }
}

/// A trace that is being written.
pub struct Writer {
    start: Contents,
    /// Memory after the last event.
    pub now: Contents,
    events: Vec<Event>,
    /// Who acts.
    pub cpu: usize,
}

impl Writer {
    /// The machine, with nothing in any TLB.
    pub fn new() -> Self {
        let mut start = Contents::default();
        for tables in [KERNEL, USER, OTHER] {
            for pair in tables.windows(2) {
                start.0.insert(pair[0], pair[1] | TABLE);
            }
            start.0.insert(tables[3], PAGE);
        }
        // Not the user's permissions, but they do not matter here.
        start
            .0
            .insert(LINEAR, BLOCK | 0b01 | 3 << 8 | 1 << 10 | 1 << 53);
        Self {
            now: start.clone(),
            start,
            events: Vec::new(),
            cpu: 0,
        }
    }

    pub fn act(&mut self, action: Action) -> &mut Self {
        let cpu = self.cpu;
        self.events.push(Event { cpu, action });
        self
    }

    pub fn on(&mut self, cpu: usize) -> &mut Self {
        self.cpu = cpu;
        self
    }

    /// What stands in an entry.
    pub fn read(&self, entry: u64) -> u64 {
        self.now.0.get(&entry).copied().unwrap_or(0)
    }

    pub fn store(&mut self, entry: u64, value: u64) -> &mut Self {
        let old = self.now.0.insert(entry, value).unwrap_or(0);
        self.act(Action::Store { entry, old, value })
    }

    /// A store that is not recorded.
    pub fn secretly(&mut self, entry: u64, value: u64) -> &mut Self {
        self.now.0.insert(entry, value);
        self
    }

    pub fn zero(&mut self, frame: u64) -> &mut Self {
        self.now.0.retain(|at, _| at & !0xfff != frame);
        self.act(Action::Zero(frame)).act(Action::StoreBarrier)
    }

    /// An invalidation with its barriers.
    pub fn flush(&mut self, invalidation: Action) -> &mut Self {
        self.act(Action::StoreBarrier)
            .act(invalidation)
            .act(Action::Barrier)
    }

    pub fn load(&mut self, root: u64, asid: u16) -> &mut Self {
        self.act(Action::Load { root, asid })
    }

    /// Each rule that was broken, once, in its order.
    pub fn broken(&mut self) -> Vec<Rule> {
        let mut oracle = Oracle::default();
        let before = [
            Action::Load {
                root: USER[0],
                asid: ASID,
            },
            Action::StoreBarrier,
            Action::InvalidateAll,
            Action::Barrier,
        ];
        for action in before {
            oracle.step(Event { cpu: 0, action });
        }
        oracle.adopt(&self.start, KERNEL[0], &[OTHER[0]]);
        self.events.iter().for_each(|it| oracle.step(*it));
        oracle.finish(&self.now);
        let broken = &oracle.tally().violations;
        for violation in oracle.violations() {
            assert!(broken.contains_key(&violation.rule));
            assert!(violation.to_string().contains("missing: "));
        }
        broken.keys().copied().collect()
    }

    pub fn is_good(&mut self) {
        assert_eq!(self.broken(), []);
    }

    #[track_caller]
    pub fn breaks(&mut self, rule: Rule) {
        assert_eq!(self.broken(), [rule]);
    }
}
