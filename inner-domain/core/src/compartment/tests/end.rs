// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of compartments, slice by slice.

use core::cell::Cell;
use std::collections::BTreeSet;
use std::vec::Vec;

use donjon_abi::call::{CompartmentExit, Reason};
use donjon_abi::layout::PAGE_SIZE;
use proptest::prelude::*;

use super::super::{Access, HEAP, Handle, Phase};
use super::{CODE, DATA, Machine, RAM, Ram, Words};
use crate::translation::{Hardware, Step, bits};

/// Most entries that a slice reads, and most frames that it wipes besides a page that was being
/// added, the frame of registers and the root: 51 pages or messages, and the table that had the
/// last of them.
const READS: u64 = 3_072;
const ZEROED: usize = 52;

/// Counts what a slice does.
struct Counted<'a> {
    words: &'a mut Words,
    reads: Cell<u64>,
    zeroed: Vec<u64>,
}

impl<'a> Counted<'a> {
    fn new(words: &'a mut Words) -> Self {
        Self {
            words,
            reads: Cell::new(0),
            zeroed: Vec::new(),
        }
    }
}

impl Hardware for Counted<'_> {
    fn read(&self, entry: u64) -> u64 {
        self.reads.set(self.reads.get() + 1);
        self.words.read(entry)
    }

    fn perform(&mut self, step: Step) {
        if let Step::ZeroFrame(frame) = step {
            self.zeroed.push(frame);
        }
        self.words.perform(step);
    }
}

/// What a slice has done: entries read, frames wiped.
type Done = (u64, Vec<u64>);

impl Machine<'_> {
    /// One slice of the end of a compartment; whether it was the last.
    fn slice(&mut self, handle: Handle) -> Result<(bool, Done), Reason> {
        let mut memory = Counted::new(&mut self.memory);
        let private = &mut self.private;
        let is_over = self.compartments.destroy(&mut memory, private, handle)?;
        Ok((is_over, (memory.reads.get(), memory.zeroed)))
    }

    /// Everything that changes tables is refused while a compartment ends.
    fn is_left_alone(&mut self, handle: Handle, other: Handle, va: u64) {
        let refused = Err(Reason::WrongTime);
        let added = self.add(handle, va, Access::Write, RAM);
        assert_eq!(added.map(drop), refused);
        assert_eq!(self.share(handle, va, RAM), refused);
        assert_eq!(self.enter(handle, 0).map(drop), refused);
        assert_eq!(self.compartments.seal(handle, CODE, DATA), refused);
        let (memory, private) = (&mut self.memory, &mut self.private);
        let copied = self.compartments.copy(memory, private, handle);
        assert_eq!(copied.map(drop), refused);
        let grown = self.compartments.grow(memory, private, (handle, 0), 1);
        assert_eq!(grown.map(drop), refused);
        for (one, other) in [(handle, other), (other, handle)] {
            let joined = self.compartments.connect(private, one, other);
            assert_eq!(joined.map(drop), refused);
        }
        let cloned = self.compartments.clone_of(private, handle);
        assert_eq!(cloned.map(drop), refused);
    }

    /// Tables below one, itself included.
    fn tables(&self, table: u64, level: u32) -> u64 {
        let entries = (0..512).map(|index| self.memory.read(table + index * 8));
        let below = entries.filter(|it| *it != 0 && level < 3);
        1 + below
            .map(|it| self.tables(it & bits::OUTPUT_ADDRESS, level + 1))
            .sum::<u64>()
    }

    /// All slices of it; each does something, no frame is wiped twice, and no entry is looked at
    /// again but those that lead to where the last slice ended.
    fn end(&mut self, handle: Handle, other: Handle, vas: &[u64]) {
        let (before, _) = self.compartments.frames(handle).expect("there");
        let (root, mut extra) = {
            let guard = self.compartments.of(handle).expect("there");
            (
                guard.state.root.as_u64(),
                usize::from(guard.state.addition.is_some()),
            )
        };
        let tables = self.tables(root, 0);
        let (mut wiped, mut all) = (BTreeSet::new(), 0);
        for slice in 0.. {
            let (is_over, (reads, zeroed)) = self.slice(handle).expect("it does not run");
            assert!(reads <= READS, "{reads} entries are read");
            extra += if is_over { 2 } else { 0 };
            assert!(
                zeroed.len() <= ZEROED + extra,
                "{} frames are wiped",
                zeroed.len()
            );
            (extra, all) = (0, all + reads);
            assert!(
                all <= tables * 516 + 4 * (slice as u64 + 1),
                "{all} entries are read"
            );
            for frame in zeroed {
                assert!(wiped.insert(frame), "{frame:#x} is wiped twice");
            }
            if is_over {
                break;
            }
            assert!(slice < 1000, "it does not end");
            assert_eq!(self.compartments.phase(handle), Ok(Phase::Ending));
            let (left, _) = self.compartments.frames(handle).expect("there");
            assert_eq!(left + wiped.len() as u64, before);
            if let Some(va) = vas.get(slice % vas.len().max(1)) {
                self.is_left_alone(handle, other, *va);
            }
        }
        assert_eq!(wiped.len() as u64, before, "as many as it had");
        let gone = self.compartments.phase(handle);
        assert_eq!(gone, Err(Reason::NoCompartment));
    }
}

/// Where tables begin, end, and in between.
fn index() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1),
        Just(47),
        Just(48),
        Just(510),
        Just(511),
        0..512_u64
    ]
}

/// Few tables with many pages, and some that stand alone.
fn address() -> impl Strategy<Value = u64> {
    (
        prop_oneof![Just(0), Just(1), Just(255)],
        prop_oneof![Just(0), Just(511), 0..512_u64],
        index(),
    )
        .prop_map(|(upper, middle, lower)| {
            (upper << 30 | middle << 21 | lower << 12).max(PAGE_SIZE)
        })
}

/// An address and how many pages from there on; whether Linux has them.
fn pages() -> impl Strategy<Value = Vec<(u64, u64, bool)>> {
    prop::collection::vec(
        (address(), prop_oneof![Just(1), 1..130_u64], any::<bool>()),
        0..12,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]
    #[test]
    fn a_compartment_ends_whatever_it_has(
        pages in pages(),
        heap in prop_oneof![Just(0), 0..300_u64],
        stage in 0..6_u8,
        copies in 0..40_usize,
        channels in 0..4_usize,
        limit in prop_oneof![Just(1000), 6..400_u64],
    ) {
        let mut ram = Ram::new();
        let mut machine = ram.machine();
        let other = machine.sealed();
        let handle = machine.compartments.create(&mut machine.private, limit).expect("room");
        let mut vas = std::vec![CODE];
        'pages: for (va, count, is_shared) in pages {
            for va in (va..HEAP).step_by(PAGE_SIZE as usize).take(count as usize) {
                let access = Access::from_word(va >> 12 & 3).unwrap_or(Access::Read);
                let added = if is_shared {
                    machine.share(handle, va, RAM + va % (16 * PAGE_SIZE)).map(|()| true)
                } else {
                    machine.add(handle, va, access, RAM)
                };
                match added {
                    Ok(false) => while machine.add(handle, va, access, RAM) == Ok(false) {},
                    Ok(true) => {}
                    Err(Reason::OverLimit | Reason::NoRoom) => break 'pages,
                    Err(_) => break,
                }
                vas.push(va);
            }
        }
        // In the middle of an addition, or sealed.
        if stage == 0 {
            let _ = machine.add(handle, DATA + 7 * PAGE_SIZE, Access::Write, RAM);
            machine.end(handle, other, &vas);
            machine.check(&[other]);
            return Ok(());
        }
        machine.compartments.seal(handle, CODE, CODE).expect("complete");
        let mut live = std::vec![other, handle];
        let mut ending = handle;
        if stage == 1 {
            // A clone in the middle of being copied.
            if let Ok(clone) = machine.compartments.clone_of(&mut machine.private, handle) {
                live.push(clone);
                ending = clone;
                for _ in 0..copies {
                    let (memory, private) = (&mut machine.memory, &mut machine.private);
                    if machine.compartments.copy(memory, private, clone) != Ok(false) {
                        break;
                    }
                }
                prop_assert_eq!(machine.slice(handle), Err(Reason::InUse));
            }
        } else {
            for _ in 0..channels {
                let _ = machine.compartments.connect(&mut machine.private, handle, other);
            }
            machine.enter(handle, 0).expect("sealed");
            let (memory, private) = (&mut machine.memory, &mut machine.private);
            let mut left = heap;
            while left > 0 {
                let (added, _) = machine.compartments.grow(memory, private, (handle, 0), left).expect("it runs");
                if added == 0 {
                    break;
                }
                left -= added;
            }
            let _ = machine.compartments.shrink(memory, private, (handle, 0), heap % 17);
            prop_assert_eq!(machine.slice(handle), Err(Reason::InUse));
            let exits = CompartmentExit::ALL;
            machine.leave(handle, 0, exits[usize::from(stage) % exits.len()]);
        }
        machine.check(&live);
        machine.end(ending, other, &vas);
        live.retain(|it| *it != ending);
        machine.check(&live);
        while let Some(handle) = live.pop() {
            machine.end(handle, handle, &[]);
            machine.check(&live);
        }
        for page in 0..16 {
            prop_assert_eq!(machine.shares(RAM + page * PAGE_SIZE), 0);
        }
    }
}

/// A slice may end with the last entry of a table, before it, and behind it.
#[test]
fn a_slice_ends_where_a_table_ends() {
    for (count, middle) in (40..60).flat_map(|count| [(count, 0), (count, 1), (count, 511)]) {
        let mut ram = Ram::new();
        let mut machine = ram.machine();
        let other = machine.sealed();
        let made = machine.compartments.create(&mut machine.private, 200);
        let handle = made.expect("room");
        for index in 512 - count..514 {
            machine.add_all(handle, (middle << 21) + (index << 12), Access::Write, RAM);
        }
        machine.end(handle, other, &[]);
        machine.check(&[other]);
    }
}
