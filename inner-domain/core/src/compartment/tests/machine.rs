// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine of three blocks, the last of which is private memory.

use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};
use std::collections::BTreeMap;
use std::vec::Vec;

use donjon_abi::call::{CompartmentExit, Reason};
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};

use super::super::*;
use crate::memory::private::{Private, PrivateBlock};
use crate::translation::address::ENTRIES;
use crate::translation::frames::{FrameTable, FrameType};
use crate::translation::{Hardware, Step, bits};

/// The first block is Linux's, the others are private.
pub(super) const RAM: u64 = 0x4000_0000;
pub(super) const BLOCKS: u64 = 3;
pub(super) const FRAMES: usize = BLOCKS as usize * ENTRIES;
pub(super) const PRIVATE: u64 = FRAMES as u64 - ENTRIES as u64;
pub(super) const CODE: u64 = 0x40_0000;
pub(super) const DATA: u64 = 0x60_0000;
pub(super) const LIMIT: u64 = 64;

#[derive(Default)]
pub(super) struct Words {
    pub(super) words: BTreeMap<u64, u64>,
    pub(super) executable: Vec<u64>,
    pub(super) cleaned: Vec<u64>,
    pub(super) flows: BTreeMap<u64, Flow>,
}

impl Words {
    pub(super) fn is_zero(&self, frame: u64) -> bool {
        self.words
            .range(frame..frame + PAGE_SIZE)
            .all(|(_, word)| *word == 0)
    }

    pub(super) fn fill(&mut self, frame: u64, seed: u64) {
        for at in (frame..frame + PAGE_SIZE).step_by(8) {
            self.words.insert(at, at.wrapping_mul(seed | 1));
        }
    }

    pub(super) fn byte(&self, address: u64) -> u8 {
        (self.read(address & !7) >> (address % 8 * 8)) as u8
    }

    pub(super) fn bytes(&self, frame: u64) -> Vec<u8> {
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
            Step::CleanFrame(frame) => self.cleaned.push(frame),
            Step::BarrierStore | Step::Barrier => {}
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

    fn flow(&mut self, context: u64) -> &mut Flow {
        self.flows.entry(context).or_default()
    }
}

pub(super) struct Ram {
    pub(super) types: Vec<AtomicU16>,
    pub(super) owners: Vec<AtomicU32>,
    pub(super) blocks: Vec<PrivateBlock>,
    pub(super) slots: Vec<Slot>,
    pub(super) roots: Vec<AtomicU64>,
}

pub(super) struct Machine<'a> {
    pub(super) memory: Words,
    pub(super) frames: FrameTable<'a>,
    pub(super) private: Private<'a>,
    pub(super) compartments: Compartments<'a>,
}

impl Ram {
    pub(super) fn new() -> Self {
        Self {
            types: (0..FRAMES).map(|_| AtomicU16::new(0)).collect(),
            owners: (0..FRAMES).map(|_| AtomicU32::new(0)).collect(),
            blocks: std::vec![PrivateBlock::NEW; BLOCKS as usize],
            slots: (0..4).map(|_| Slot::new()).collect(),
            roots: (0..4).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(super) fn machine(&mut self) -> Machine<'_> {
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
    pub(super) fn create(&mut self) -> Handle {
        let made = self.compartments.create(&mut self.private, LIMIT);
        made.expect("room")
    }

    pub(super) fn add(
        &mut self,
        handle: Handle,
        va: u64,
        access: Access,
        from: u64,
    ) -> Result<bool, Reason> {
        let of = (&self.frames, &mut self.private);
        self.compartments
            .add(&mut self.memory, of, handle, (va, access, from))
    }

    pub(super) fn add_all(&mut self, handle: Handle, va: u64, access: Access, from: u64) {
        while !self.add(handle, va, access, from).expect("added") {}
    }

    pub(super) fn share(&mut self, handle: Handle, va: u64, frame: u64) -> Result<(), Reason> {
        let of = (&self.frames, &mut self.private);
        self.compartments
            .share(&mut self.memory, of, handle, (va, frame))
    }

    pub(super) fn enter(&mut self, handle: Handle, cpu: usize) -> Result<Entry, Reason> {
        self.compartments.enter(&mut self.memory, handle, cpu)
    }

    pub(super) fn leave(&mut self, handle: Handle, cpu: usize, exit: CompartmentExit) {
        self.compartments.leave(&mut self.memory, handle, cpu, exit);
    }

    pub(super) fn destroy(&mut self, handle: Handle) -> Result<(), Reason> {
        let (memory, private) = (&mut self.memory, &mut self.private);
        for _ in 0..1000 {
            if self.compartments.destroy(memory, private, handle)? {
                return Ok(());
            }
        }
        panic!("it does not end");
    }

    pub(super) fn sealed(&mut self) -> Handle {
        let handle = self.create();
        self.memory.fill(RAM, 3);
        self.add_all(handle, CODE, Access::Execute, RAM);
        self.add_all(handle, DATA, Access::Write, RAM);
        let sealed = self.compartments.seal(handle, CODE, DATA + PAGE_SIZE);
        sealed.expect("complete");
        handle
    }

    /// All leaves of a compartment.
    pub(super) fn leaves(&self, handle: Handle) -> BTreeMap<u64, u64> {
        let guard = self.compartments.of(handle).expect("there");
        let mut leaves = BTreeMap::new();
        self.collect(guard.state.root.as_u64(), 39, 0, &mut leaves);
        leaves
    }

    pub(super) fn collect(&self, table: u64, shift: u32, va: u64, leaves: &mut BTreeMap<u64, u64>) {
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
    pub(super) fn template_of(&self, handle: Handle) -> Option<Owner> {
        let template = self.compartments.of(handle).expect("there").state.template;
        (template != NONE).then(|| Owner::compartment(template))
    }

    pub(super) fn cloned(&mut self, template: Handle) -> Result<Handle, Reason> {
        let handle = self.compartments.clone_of(&mut self.private, template)?;
        let (memory, private) = (&mut self.memory, &mut self.private);
        while !self.compartments.copy(memory, private, handle)? {}
        Ok(handle)
    }

    /// Who has a frame.
    fn owner(&self, frame: u64) -> Option<Owner> {
        self.private.owner(FrameAddress::containing(frame))
    }

    /// How often compartments map a frame.
    pub(super) fn shares(&self, frame: u64) -> u32 {
        self.private.shares(FrameAddress::containing(frame))
    }

    /// What holds at any time.
    pub(super) fn check(&mut self, live: &[Handle]) {
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
                let is_shared_code = self.owner(frame) == template && template.is_some();
                if is_shared_code {
                    assert!(!writable, "{va:#x} of the template is writable");
                } else if self.frames.get(frame) == Some(FrameType::Private) {
                    assert_eq!(self.owner(frame), Some(owner), "{va:#x}");
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
            assert_eq!(self.shares(frame), count, "{frame:#x}");
        }
        for number in 0..PRIVATE {
            let frame = RAM + BLOCK_SIZE + number * PAGE_SIZE;
            if self.owner(frame).is_none() {
                assert!(self.memory.is_zero(frame), "{frame:#x} is not wiped");
            }
        }
    }
}
