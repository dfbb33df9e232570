// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compartments over memory that is a map of words.

mod channel;
mod end;

use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};
use std::collections::BTreeMap;
use std::vec::Vec;

use donjon_abi::call::Reason;
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::*;
use crate::address::ENTRIES;
use crate::frames::{FrameTable, FrameType};
use crate::private::{Private, PrivateBlock};
use crate::rules::{Hardware, Step, bits};

/// The first block is Linux's, the others are private.
const RAM: u64 = 0x4000_0000;
const BLOCKS: u64 = 3;
const FRAMES: usize = BLOCKS as usize * ENTRIES;
const PRIVATE: u64 = FRAMES as u64 - ENTRIES as u64;
const CODE: u64 = 0x40_0000;
const DATA: u64 = 0x60_0000;
const LIMIT: u64 = 64;

#[derive(Default)]
struct Words {
    words: BTreeMap<u64, u64>,
    executable: Vec<u64>,
}

impl Words {
    fn is_zero(&self, frame: u64) -> bool {
        self.words
            .range(frame..frame + PAGE_SIZE)
            .all(|(_, word)| *word == 0)
    }

    fn fill(&mut self, frame: u64, seed: u64) {
        for at in (frame..frame + PAGE_SIZE).step_by(8) {
            self.words.insert(at, at.wrapping_mul(seed | 1));
        }
    }

    fn byte(&self, address: u64) -> u8 {
        (self.read(address & !7) >> (address % 8 * 8)) as u8
    }

    fn bytes(&self, frame: u64) -> Vec<u8> {
        let words = (frame..frame + PAGE_SIZE).step_by(8);
        words.flat_map(|at| self.read(at).to_le_bytes()).collect()
    }
}

impl Hardware for Words {
    fn read(&self, entry: u64) -> u64 {
        self.words.get(&entry).copied().unwrap_or(0)
    }

    fn perform(&mut self, step: Step) {
        match step {
            Step::Write { entry, value } => {
                self.words.insert(entry, value);
            }
            Step::ZeroFrame(frame) => {
                for at in (frame..frame + PAGE_SIZE).step_by(8) {
                    self.words.remove(&at);
                }
            }
            Step::BarrierStore => {}
            other => panic!("no step of a compartment's: {other:?}"),
        }
    }
}

impl Memory for Words {
    fn copy_in(&mut self, from: u64, to: u64, seen: &mut [u8; PIECE]) {
        for (at, bytes) in (0..).step_by(8).zip(seen.chunks_exact_mut(8)) {
            let word = self.read(from + at);
            self.words.insert(to + at, word);
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn copy_frame(&mut self, from: u64, to: u64) {
        for at in (0..PAGE_SIZE).step_by(8) {
            self.words.insert(to + at, self.read(from + at));
        }
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) {
        for (from, to) in (from..from + bytes).zip(to..) {
            let byte = self.byte(from);
            let word = self.words.entry(to & !7).or_default();
            let shift = to % 8 * 8;
            *word = *word & !(0xff << shift) | u64::from(byte) << shift;
        }
    }

    fn make_executable(&mut self, frame: u64) {
        self.executable.push(frame);
    }
}

struct Ram {
    types: Vec<AtomicU16>,
    owners: Vec<AtomicU32>,
    blocks: Vec<PrivateBlock>,
    slots: Vec<Slot>,
    roots: Vec<AtomicU64>,
}

struct Machine<'a> {
    memory: Words,
    frames: FrameTable<'a>,
    private: Private<'a>,
    compartments: Compartments<'a>,
}

impl Ram {
    fn new() -> Self {
        Self {
            types: (0..FRAMES).map(|_| AtomicU16::new(0)).collect(),
            owners: (0..FRAMES).map(|_| AtomicU32::new(0)).collect(),
            blocks: std::vec![PrivateBlock::NEW; BLOCKS as usize],
            slots: (0..4).map(|_| Slot::new()).collect(),
            roots: (0..4).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn machine(&mut self) -> Machine<'_> {
        let frames = FrameTable::new(RAM, &self.types);
        let mut private = Private::new(frames, &self.owners, &mut self.blocks).expect("room");
        for block in 1..BLOCKS {
            frames.set_in_block(RAM + block * BLOCK_SIZE, FrameType::Private, 0);
            private.enter(RAM + block * BLOCK_SIZE);
        }
        Machine {
            memory: Words::default(),
            frames,
            private,
            compartments: Compartments::new(&self.slots, &self.roots),
        }
    }
}

impl Machine<'_> {
    fn create(&mut self) -> Handle {
        let made = self.compartments.create(&mut self.private, LIMIT);
        made.expect("room")
    }

    fn add(&mut self, handle: Handle, va: u64, access: Access, from: u64) -> Result<bool, Reason> {
        let of = (&self.frames, &mut self.private);
        self.compartments
            .add(&mut self.memory, of, handle, (va, access, from))
    }

    fn add_all(&mut self, handle: Handle, va: u64, access: Access, from: u64) {
        while !self.add(handle, va, access, from).expect("added") {}
    }

    fn share(&mut self, handle: Handle, va: u64, frame: u64) -> Result<(), Reason> {
        let of = (&self.frames, &mut self.private);
        self.compartments
            .share(&mut self.memory, of, handle, (va, frame))
    }

    fn destroy(&mut self, handle: Handle) -> Result<(), Reason> {
        let (memory, private) = (&mut self.memory, &mut self.private);
        for _ in 0..1000 {
            if self.compartments.destroy(memory, private, handle)? {
                return Ok(());
            }
        }
        panic!("it does not end");
    }

    fn sealed(&mut self) -> Handle {
        let handle = self.create();
        self.memory.fill(RAM, 3);
        self.add_all(handle, CODE, Access::Execute, RAM);
        self.add_all(handle, DATA, Access::Write, RAM);
        let sealed = self.compartments.seal(handle, CODE, DATA + PAGE_SIZE);
        sealed.expect("complete");
        handle
    }

    /// All leaves of a compartment.
    fn leaves(&self, handle: Handle) -> BTreeMap<u64, u64> {
        let guard = self.compartments.of(handle).expect("there");
        let mut leaves = BTreeMap::new();
        self.collect(guard.state.root, 39, 0, &mut leaves);
        leaves
    }

    fn collect(&self, table: u64, shift: u32, va: u64, leaves: &mut BTreeMap<u64, u64>) {
        for index in 0..ENTRIES as u64 {
            let descriptor = self.memory.read(table + index * 8);
            let va = va | index << shift;
            if descriptor == 0 {
                continue;
            }
            if shift == 12 {
                leaves.insert(va, descriptor);
            } else {
                self.collect(descriptor & bits::OUTPUT_ADDRESS, shift - 9, va, leaves);
            }
        }
    }

    /// Who has what the compartment shares.
    fn template_of(&self, handle: Handle) -> Option<Owner> {
        let template = self.compartments.of(handle).expect("there").state.template;
        (template != NONE).then(|| Owner::compartment(template))
    }

    fn cloned(&mut self, template: Handle) -> Result<Handle, Reason> {
        let handle = self.compartments.clone_of(&mut self.private, template)?;
        let (memory, private) = (&mut self.memory, &mut self.private);
        while !self.compartments.copy(memory, private, handle)? {}
        Ok(handle)
    }

    /// What holds at any time.
    fn check(&mut self, live: &[Handle]) {
        let mut used = BTreeMap::new();
        let mut shared = BTreeMap::<u64, u32>::new();
        let mut frames = 0;
        for handle in live {
            let owner = Owner::compartment(handle.index());
            for (va, leaf) in self.leaves(*handle) {
                let frame = leaf & bits::OUTPUT_ADDRESS;
                assert_ne!(leaf & bits::NO_EL1, 0, "{va:#x} is executable at EL1");
                assert_ne!(leaf & bits::NON_GLOBAL, 0, "{va:#x} is global");
                let writable = leaf & bits::READ_ONLY == 0;
                let executable = leaf & bits::NO_EL0 == 0;
                assert!(!writable || !executable, "{va:#x}");
                let template = self.template_of(*handle);
                let is_shared_code = self.private.owner(frame) == template && template.is_some();
                if is_shared_code {
                    assert!(!writable, "{va:#x} of the template is writable");
                } else if self.frames.get(frame) == Some(FrameType::Private) {
                    assert_eq!(self.private.owner(frame), Some(owner), "{va:#x}");
                    assert_eq!(used.insert(frame, va), None, "{frame:#x} is used twice");
                } else {
                    assert!(!executable, "{va:#x}");
                    *shared.entry(frame).or_default() += 1;
                }
            }
            frames += self.compartments.frames(*handle).expect("there").0;
        }
        assert_eq!(self.private.free() + frames, PRIVATE, "frames are lost");
        for (frame, count) in shared {
            assert_eq!(self.private.shares(frame), count, "{frame:#x}");
        }
        for number in 0..PRIVATE {
            let frame = RAM + BLOCK_SIZE + number * PAGE_SIZE;
            if self.private.owner(frame).is_none() {
                assert!(self.memory.is_zero(frame), "{frame:#x} is not wiped");
            }
        }
    }
}

#[test]
fn what_is_added_is_measured_and_mapped() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.sealed();
    let mut hash = Sha256::new();
    let page = machine.memory.bytes(RAM);
    for (va, access) in [(CODE, 2_u64), (DATA, 1)] {
        hash.update(va.to_le_bytes());
        hash.update(access.to_le_bytes());
        hash.update(&page);
    }
    for word in [CODE, DATA + PAGE_SIZE, LIMIT] {
        hash.update(word.to_le_bytes());
    }
    let measured = machine.compartments.measurement(handle).expect("sealed");
    assert_eq!(measured[..], hash.finalize()[..]);
    let leaves = machine.leaves(handle);
    let frame = |va| leaves[&va] & bits::OUTPUT_ADDRESS;
    assert_eq!(machine.memory.bytes(frame(CODE)), page);
    assert_eq!(machine.memory.executable, [frame(CODE)]);
    machine.check(&[handle]);
}

#[test]
fn nothing_is_added_once_it_is_sealed() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.sealed();
    let added = machine.add(handle, DATA + PAGE_SIZE, Access::Write, RAM);
    assert_eq!(added, Err(Reason::WrongTime));
    let sealed = machine.compartments.seal(handle, CODE, DATA);
    assert_eq!(sealed, Err(Reason::WrongTime));
}

#[test]
fn a_page_is_added_as_a_whole() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.create();
    assert_eq!(machine.add(handle, CODE, Access::Execute, RAM), Ok(false));
    // Nothing comes between, and the address is taken.
    for (va, from) in [(DATA, RAM), (CODE, RAM + PAGE_SIZE)] {
        let added = machine.add(handle, va, Access::Execute, from);
        assert_eq!(added, Err(Reason::WrongTime));
    }
    assert_eq!(machine.share(handle, CODE, RAM), Err(Reason::BadEntry));
    let sealed = machine.compartments.seal(handle, CODE, DATA);
    assert_eq!(sealed, Err(Reason::WrongTime));
    assert!(machine.leaves(handle).is_empty());
    machine.add_all(handle, CODE, Access::Execute, RAM);
    let again = machine.add(handle, CODE, Access::Write, RAM);
    assert_eq!(again, Err(Reason::BadEntry));
    machine.check(&[handle]);
}

#[test]
fn a_page_comes_from_ordinary_memory() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.create();
    machine.frames.set(RAM + PAGE_SIZE, FrameType::KernelTable3);
    let private = RAM + BLOCK_SIZE;
    for from in [private, RAM + PAGE_SIZE, RAM + 8, 0, RAM - PAGE_SIZE] {
        let added = machine.add(handle, CODE, Access::Write, from);
        assert_eq!(added, Err(Reason::WrongFrame), "{from:#x}");
        let shared = machine.share(handle, DATA, from);
        assert_eq!(shared, Err(Reason::WrongFrame), "{from:#x}");
    }
    for va in [0, CODE + 8, HEAP, END, u64::MAX - 4095] {
        let added = machine.add(handle, va, Access::Write, RAM);
        assert_eq!(added, Err(Reason::BadEntry), "{va:#x}");
        assert_eq!(machine.share(handle, va, RAM), Err(Reason::BadEntry));
    }
    machine.check(&[handle]);
}

#[test]
fn it_runs_on_one_cpu() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.sealed();
    let entry = machine.compartments.enter(handle, 1).expect("idle");
    assert_eq!(entry.begin, Some((CODE, DATA + PAGE_SIZE)));
    assert_eq!(machine.compartments.enter(handle, 0), Err(Reason::InUse));
    assert_eq!(machine.destroy(handle), Err(Reason::InUse));
    assert_eq!(machine.share(handle, 0x1000, RAM), Err(Reason::WrongTime));
    // Another CPU has nothing to say.
    machine.compartments.leave(handle, 0, Exit::Died);
    machine.compartments.leave(handle, 1, Exit::Suspended);
    let again = machine.compartments.enter(handle, 0).expect("suspended");
    assert_eq!(again.begin, None);
    assert_eq!(again.tag, entry.tag);
    machine.compartments.leave(handle, 0, Exit::Died);
    let dead = machine.compartments.enter(handle, 0);
    assert_eq!(dead, Err(Reason::WrongTime));
    machine.destroy(handle).expect("nothing runs");
}

#[test]
fn a_handle_ends_with_its_compartment() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.sealed();
    machine.destroy(handle).expect("nothing runs");
    machine.check(&[]);
    let next = machine.sealed();
    assert_eq!(next.index(), handle.index(), "the slot is used again");
    let compartments = &machine.compartments;
    assert_eq!(compartments.enter(handle, 0), Err(Reason::NoCompartment));
    assert_eq!(compartments.phase(handle), Err(Reason::NoCompartment));
    for word in [0, u64::MAX, 1 << 32 | 77] {
        let handle = Handle::from_word(word);
        assert_eq!(compartments.phase(handle), Err(Reason::NoCompartment));
    }
    assert_eq!(compartments.phase(next), Ok(Phase::Idle));
}

#[test]
fn the_heap_ends_at_the_limit_and_comes_back_as_zeros() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.sealed();
    let (memory, private) = (&mut machine.memory, &mut machine.private);
    let compartments = &machine.compartments;
    let grown = compartments.grow(memory, private, (handle, 0), 1);
    assert_eq!(grown, Err(Reason::WrongTime), "it does not run");
    let first = compartments.enter(handle, 0).expect("idle").tag;
    let mut heap = 0;
    loop {
        let grown = compartments.grow(memory, private, (handle, 0), 7);
        let (added, has) = grown.expect("it runs");
        heap += added;
        assert_eq!(has, heap);
        if added < 7 {
            break;
        }
    }
    assert_eq!(compartments.frames(handle), Ok((LIMIT, LIMIT)));
    let shrunk = compartments.shrink(memory, private, (handle, 0), 100);
    let (removed, left, tag) = shrunk.expect("it runs");
    assert_eq!((removed, left), (SHRINK_MAX, heap - SHRINK_MAX));
    assert_ne!(tag, first, "what TLBs hold of the pages is not used again");
    compartments.leave(handle, 0, Exit::Returned);
    machine.check(&[handle]);
    machine.destroy(handle).expect("nothing runs");
    machine.check(&[]);
}

#[test]
fn slots_and_memory_end() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let mut live: Vec<_> = (0..4).map(|_| machine.create()).collect();
    let none = machine.compartments.create(&mut machine.private, LIMIT);
    assert_eq!(none, Err(Reason::OverLimit));
    machine.check(&live);
    machine.destroy(live.remove(1)).expect("nothing runs");
    live.push(machine.create());
    machine.check(&live);
    let small = machine.compartments.create(&mut machine.private, 5);
    assert_eq!(small, Err(Reason::OverLimit));
}

#[test]
fn a_clone_has_the_same_code_and_its_own_data() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let template = machine.sealed();
    let one = machine.cloned(template).expect("sealed");
    let other = machine.cloned(template).expect("sealed");
    machine.check(&[template, one, other]);
    let leaves = [template, one, other].map(|it| machine.leaves(it));
    let frame = |index: usize, va| leaves[index][&va] & bits::OUTPUT_ADDRESS;
    assert_eq!(frame(0, CODE), frame(1, CODE));
    assert_ne!(frame(0, DATA), frame(1, DATA));
    assert_ne!(frame(1, DATA), frame(2, DATA));
    let data = machine.memory.bytes(frame(2, DATA));
    assert_eq!(data, machine.memory.bytes(frame(0, DATA)));
    let compartments = &machine.compartments;
    let measured = compartments.measurement(template);
    assert_eq!(compartments.measurement(one), measured);
    assert!(compartments.enter(one, 0).is_ok());
    compartments.leave(one, 0, Exit::Returned);
    // The code stays as long as there are clones.
    assert_eq!(machine.destroy(template), Err(Reason::InUse));
    machine.destroy(one).expect("nothing runs");
    machine.check(&[template, other]);
    machine.destroy(other).expect("nothing runs");
    machine.destroy(template).expect("no clones");
    machine.check(&[]);
}

#[test]
fn a_clone_is_of_what_has_not_run() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let unsealed = machine.create();
    assert_eq!(machine.cloned(unsealed), Err(Reason::WrongTime));
    let template = machine.sealed();
    let begun = machine
        .compartments
        .clone_of(&mut machine.private, template);
    let begun = begun.expect("sealed");
    // Nothing but the template's pages gets into it.
    for result in [
        machine.add(begun, DATA, Access::Write, RAM).map(drop),
        machine.share(begun, DATA, RAM),
        machine.compartments.seal(begun, CODE, DATA),
        machine.compartments.enter(begun, 0).map(drop),
    ] {
        assert_eq!(result, Err(Reason::WrongTime));
    }
    machine.compartments.enter(template, 0).expect("idle");
    machine.compartments.leave(template, 0, Exit::Returned);
    // Nor one that was begun before.
    let (memory, private) = (&mut machine.memory, &mut machine.private);
    let copied = machine.compartments.copy(memory, private, begun);
    assert_eq!(copied, Err(Reason::WrongTime));
    machine.destroy(begun).expect("nothing runs");
    assert_eq!(machine.cloned(template), Err(Reason::WrongTime));
    machine.destroy(template).expect("no clones");
}

proptest! {
    #[test]
    fn whatever_is_asked_for(steps in prop::collection::vec((0..13_u8, 0..6_usize, any::<u64>()), 0..120)) {
        let mut ram = Ram::new();
        let mut machine = ram.machine();
        machine.memory.fill(RAM, 5);
        let mut live: Vec<Handle> = Vec::new();
        for (what, which, number) in steps {
            let handle = live.get(which % live.len().max(1)).copied().unwrap_or(Handle::from_word(number));
            let va = CODE + number % 5 * PAGE_SIZE + (number >> 8) % 3 * (1 << 30);
            let frame = RAM + (number >> 16) % 4 * PAGE_SIZE;
            let cpu = (number >> 32) as usize % 2;
            let at = (handle, cpu);
            match what {
                0 => if let Ok(handle) = machine.compartments.create(&mut machine.private, 6 + number % 40) {
                    live.push(handle);
                },
                1 => {
                    let access = Access::from_word(number >> 24 & 3).unwrap_or(Access::Read);
                    while machine.add(handle, va, access, frame) == Ok(false) {}
                }
                2 => drop(machine.share(handle, va, frame)),
                3 => drop(machine.compartments.seal(handle, va, va)),
                4 => drop(machine.compartments.enter(handle, cpu)),
                5 => {
                    let exit = [Exit::Returned, Exit::Suspended, Exit::Died][number as usize % 3];
                    machine.compartments.leave(handle, cpu, exit);
                }
                6 => drop(machine.compartments.grow(&mut machine.memory, &mut machine.private, at, number % 9)),
                7 => drop(machine.compartments.shrink(&mut machine.memory, &mut machine.private, at, number % 9)),
                8 => if let Ok(handle) = machine.compartments.clone_of(&mut machine.private, handle) {
                    live.push(handle);
                    let (memory, private) = (&mut machine.memory, &mut machine.private);
                    for _ in 0..number % 4 {
                        let _ = machine.compartments.copy(memory, private, handle);
                    }
                },
                9 => {
                    let other = live.get(number as usize % 5).copied().unwrap_or(handle);
                    let _ = machine.compartments.connect(&mut machine.private, handle, other);
                }
                10 => { let _ = machine.compartments.send(&mut machine.memory, at, number % 5, (va, number >> 20)); }
                11 => { let _ = machine.compartments.receive(&mut machine.memory, at, number % 5, (va, number >> 20)); }
                _ => if machine.destroy(handle).is_ok() {
                    live.retain(|it| *it != handle);
                },
            }
            machine.check(&live);
        }
    }
}
