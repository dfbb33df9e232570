// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small machine, and traces of it.

use std::collections::BTreeMap;

use donjon_models::trace::oracle::Words;
use donjon_models::trace::{Action, Event, Memory, Oracle, Rule};

/// A pool with the kernel's tables of levels 0 to 3; those below the root are vmalloc's.
pub const KERNEL: [u64; 4] = [0x20_0000, 0x20_1000, 0x20_2000, 0x20_3000];
/// Free frames of it.
pub const FREE: u64 = 0x20_c000;
/// Tables of the linear map, of levels 1 and 2.
const LINEAR_TABLES: [u64; 2] = [0x20_4000, 0x20_5000];
/// The linear map begins with physical address 0, in blocks: this is the one of a block of ordinary
/// memory.
pub const BLOCK: u64 = 0x40_0000;
/// Physical address of the entry that shows that block.
pub const LINEAR: u64 = LINEAR_TABLES[1] + 16;
/// Kernel constants, a block.
pub const CONSTANTS: u64 = 0xa0_0000;
/// What the tables of users are made of.
pub const ARENA: std::ops::Range<u64> = 0xc0_0000..0xe0_0000;
/// A tree, loaded on CPU 0 with ASID 5.
pub const USER: [u64; 4] = [0xc0_4000, 0xc0_5000, 0xc0_6000, 0xc0_7000];
/// A tree that was loaded with ASID 8 and is not any more.
pub const OTHER: [u64; 4] = [0xc0_8000, 0xc0_9000, 0xc0_a000, 0xc0_b000];
/// Pages of the arena that are free.
pub const PAGES: [u64; 3] = [0xc0_c000, 0xc0_d000, 0xc0_e000];
/// First address of vmalloc, whose tables are the kernel's.
pub const UPPER: u64 = 0xffff_8000_0000_0000 + (200 << 39);
/// The address of that in the wide view.
pub const WIDE: u64 = 0xffff_0000_0000_0000 + (200 << 39);
/// ASIDs of the trees.
pub const ASID: u16 = 5;
pub const OTHER_ASID: u16 = 8;
pub const TABLE: u64 = 0b11;
/// A writable page of a user, at the first entry of each level 3 table.
pub const PAGE: u64 = 0x60_0000 | USER_PAGE;
pub const USER_PAGE: u64 = 0b11 | 3 << 8 | 1 << 10 | 1 << 11 | 1 << 53;
/// A page of the kernel.
pub const KERNEL_PAGE: u64 = 0b11 | 3 << 8 | 1 << 10 | 1 << 53;
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
        let mut put = |entry: u64, value: u64| start.0.insert(entry, value);
        for tables in [USER, OTHER] {
            for pair in tables.windows(2) {
                put(pair[0], pair[1] | TABLE);
            }
            put(tables[3], PAGE);
        }
        put(KERNEL[0] + 200 * 8, KERNEL[1] | TABLE);
        put(KERNEL[1], KERNEL[2] | TABLE);
        put(KERNEL[2], KERNEL[3] | TABLE);
        put(KERNEL[3], 0x60_0000 | KERNEL_PAGE);
        put(KERNEL[0], LINEAR_TABLES[0] | TABLE);
        put(LINEAR_TABLES[0], LINEAR_TABLES[1] | TABLE);
        for block in 0..6 {
            let start = block << 21;
            let read_only = if [KERNEL[0], CONSTANTS].contains(&start) {
                READ_ONLY
            } else {
                0
            };
            let leaf = start | KERNEL_PAGE & !0b10 | read_only;
            put(LINEAR_TABLES[1] + block * 8, leaf);
        }
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

    /// The call is over.
    pub fn end(&mut self) -> &mut Self {
        self.act(Action::End)
    }

    pub fn load(&mut self, root: u64, asid: u16) -> &mut Self {
        self.act(Action::Load { root, asid })
    }

    /// Each rule that was broken, once, in its order.
    pub fn broken(&mut self) -> Vec<Rule> {
        let mut oracle = Oracle::new(ARENA);
        let load = |root, asid| Action::Load { root, asid };
        let before = [
            load(0, 0),
            Action::StoreBarrier,
            Action::InvalidateAll,
            Action::Barrier,
            load(OTHER[0], OTHER_ASID),
            load(USER[0], ASID),
            Action::End,
        ];
        for action in before {
            oracle.step(Event { cpu: 0, action });
        }
        oracle.import(&self.start, KERNEL[0], &[USER[0], OTHER[0]]);
        self.events.iter().for_each(|it| oracle.step(*it));
        oracle.finish(&self.now);
        let broken = &oracle.counters().violations;
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
