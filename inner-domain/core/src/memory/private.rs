// SPDX-License-Identifier: MIT OR Apache-2.0
//! Private memory: frames that compartments have and that the outer domain cannot reach.
//!
//! It comes from Linux in blocks of 2 MiB ([`Pools::add`](crate::pools::Pools::add)) and
//! goes back in blocks. A frame is free, and zero then, or it has one owner. One word for each
//! frame of RAM says which; for an ordinary frame it counts the compartments' mappings of it, so
//! that a frame which is shared does not become anything else.

use core::sync::atomic::{AtomicU32, Ordering};

use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};

use crate::translation::FrameAddress;
use crate::translation::address::ENTRIES;
use crate::translation::frames::{FrameTable, FrameType};

/// Bit of the word of a free frame. Below it stands the next free frame of its block.
const FREE: u32 = 1 << 31;
/// No frame of a block.
const END: u16 = ENTRIES as u16;
/// No block.
const NONE: u32 = u32::MAX;

/// Who has a private frame: any number from 1 up to the largest of 31 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(u32);

impl Owner {
    /// The compartment with an index.
    pub const fn compartment(index: u32) -> Self {
        Self((index + 1) & !FREE)
    }
}

/// What is kept about 2 MiB of RAM: its free private frames, and its neighbours in the list of
/// blocks that have some.
#[derive(Clone, Copy, Debug)]
pub struct PrivateBlock {
    previous: u32,
    next: u32,
    first: u16,
    free: u16,
}

impl PrivateBlock {
    /// Metadata of a block that is not private.
    pub const NEW: Self = Self {
        previous: NONE,
        next: NONE,
        first: END,
        free: 0,
    };
}

/// Which frames are private, and which of them have owners.
#[derive(Clone, Copy)]
pub struct PrivateFrames<'a> {
    frames: FrameTable<'a>,
    words: &'a [AtomicU32],
}

impl<'a> PrivateFrames<'a> {
    /// Calls `each` with each private frame, and with those on their way to or from Linux, and says
    /// whether it has an owner.
    pub(crate) fn for_each(&self, mut each: impl FnMut(FrameAddress, bool)) {
        let (start, end) = self.frames.span();
        for address in (start..end).step_by(PAGE_SIZE as usize) {
            let frame = FrameAddress::containing(address);
            let class = self.frames.get(address);
            if matches!(class, Some(FrameType::Private | FrameType::Claimed)) {
                each(frame, self.word_of_owned(frame).is_some());
            }
        }
    }

    /// The word of a private frame that has an owner.
    #[inline]
    fn word_of_owned(&self, frame: FrameAddress) -> Option<&'a AtomicU32> {
        let frame = frame.as_u64();
        // The high byte of a private frame's entry is 0.
        if self.frames.word(frame) != FrameType::Private as u16 {
            return None;
        }
        let word = self.words.get(self.frames.index(frame))?;
        let value = word.load(Ordering::Relaxed);
        (value & FREE == 0 && value != 0).then_some(word)
    }
}

/// The private frames.
pub struct Private<'a> {
    frames: FrameTable<'a>,
    words: &'a [AtomicU32],
    blocks: &'a mut [PrivateBlock],
    /// The first block with a free frame.
    head: u32,
    free: u64,
    total: u64,
}

impl<'a> Private<'a> {
    /// No private memory yet. `words` has one entry for each of `frames`, zero at first, and
    /// `blocks` one for each 2 MiB that they lie in. None if there are fewer.
    pub fn new(
        frames: FrameTable<'a>,
        words: &'a [AtomicU32],
        blocks: &'a mut [PrivateBlock],
    ) -> Option<Self> {
        let (start, end) = frames.span();
        let enough = words.len() as u64 >= (end - start) / PAGE_SIZE
            && blocks.len() as u64 >= Self::blocks_for(start, end);
        enough.then_some(Self {
            frames,
            words,
            blocks,
            head: NONE,
            free: 0,
            total: 0,
        })
    }

    /// How many blocks the addresses from `start` to `end` lie in.
    pub const fn blocks_for(start: u64, end: u64) -> u64 {
        end.div_ceil(BLOCK_SIZE) - start / BLOCK_SIZE
    }

    /// Frames that are free.
    pub const fn free(&self) -> u64 {
        self.free
    }

    /// All private frames.
    pub const fn total(&self) -> u64 {
        self.total
    }

    #[inline]
    fn word(&self, frame: FrameAddress) -> Option<&'a AtomicU32> {
        self.words.get(self.frames.index(frame.as_u64()))
    }

    fn block_number(&self, address: u64) -> u32 {
        let (start, _) = self.frames.span();
        (address / BLOCK_SIZE).wrapping_sub(start / BLOCK_SIZE) as u32
    }

    fn block_address(&self, number: u32) -> u64 {
        let (start, _) = self.frames.span();
        (start / BLOCK_SIZE + u64::from(number)) * BLOCK_SIZE
    }

    /// Takes a whole block in, whose frames are zero.
    pub fn enter(&mut self, block: u64) {
        let number = self.block_number(block);
        let first = self.frames.index(block);
        let words = self.words.get(first..first.saturating_add(ENTRIES));
        let (groups, _) = words.unwrap_or(&[]).as_chunks::<8>();
        // Eight at a time: one by one takes twice as many instructions.
        for (group, first) in groups.iter().zip((1..).step_by(8)) {
            for (word, next) in group.iter().zip(first..) {
                word.store(FREE | next, Ordering::Relaxed);
            }
        }
        if let Some(it) = self.blocks.get_mut(number as usize) {
            it.first = 0;
            it.free = END;
            self.free += u64::from(END);
            self.total += u64::from(END);
            self.link(number);
        }
    }

    /// Whether all frames of a block are private and free.
    pub fn is_free_block(&self, block: u64) -> bool {
        let number = self.block_number(block) as usize;
        self.blocks.get(number).is_some_and(|it| it.free == END)
    }

    /// Lets go of a block whose frames are all free.
    pub fn leave(&mut self, block: u64) {
        let number = self.block_number(block);
        if !self.is_free_block(block) {
            return;
        }
        self.unlink(number);
        self.blocks[number as usize] = PrivateBlock::NEW;
        self.free -= u64::from(END);
        self.total -= u64::from(END);
        let first = FrameAddress::containing(block);
        for index in 0..u64::from(END) {
            if let Some(word) = self.word(first.after(index)) {
                word.store(0, Ordering::Relaxed);
            }
        }
    }

    /// A free frame, which is zero, for an owner.
    pub(crate) fn take(&mut self, owner: Owner) -> Option<FrameAddress> {
        let number = self.head;
        let start = FrameAddress::containing(self.block_address(number));
        let first = self.blocks.get(number as usize)?.first;
        let frame = start.after(u64::from(first));
        let word = self.word(frame)?;
        let next = (word.load(Ordering::Relaxed) & !FREE) as u16;
        word.store(owner.0, Ordering::Relaxed);
        let it = &mut self.blocks[number as usize];
        it.first = next;
        it.free -= 1;
        self.free -= 1;
        if it.free == 0 {
            self.unlink(number);
        }
        Some(frame)
    }

    /// Makes a frame free that has an owner. It is zero.
    pub(crate) fn give_back(&mut self, frame: FrameAddress) {
        if let Some(word) = self.word_of_owned(frame) {
            self.set_free(frame, word);
        }
    }

    /// Makes a frame free if it has this owner, after it was wiped. Whether it had; none if it has
    /// no owner at all.
    #[inline]
    pub(crate) fn give_back_of(
        &mut self,
        owner: Owner,
        frame: FrameAddress,
        wipe: impl FnOnce(),
    ) -> Option<bool> {
        let word = self.word_of_owned(frame)?;
        if word.load(Ordering::Relaxed) != owner.0 {
            return Some(false);
        }
        wipe();
        self.set_free(frame, word);
        Some(true)
    }

    #[inline]
    fn set_free(&mut self, frame: FrameAddress, word: &AtomicU32) {
        let frame = frame.as_u64();
        let number = self.block_number(frame);
        if let Some(it) = self.blocks.get_mut(number as usize) {
            word.store(FREE | u32::from(it.first), Ordering::Relaxed);
            it.first = (frame / PAGE_SIZE) as u16 % END;
            it.free += 1;
            self.free += 1;
            if it.free == 1 {
                self.link(number);
            }
        }
    }

    /// Who has a frame; none for a free one, and for one that is not private.
    #[inline]
    pub(crate) fn owner(&self, frame: FrameAddress) -> Option<Owner> {
        let word = self.word_of_owned(frame)?;
        Some(Owner(word.load(Ordering::Relaxed)))
    }

    /// What can be looked at without a lock.
    pub const fn view(&self) -> PrivateFrames<'a> {
        PrivateFrames {
            frames: self.frames,
            words: self.words,
        }
    }

    /// The word of a private frame that has an owner.
    #[inline]
    fn word_of_owned(&self, frame: FrameAddress) -> Option<&'a AtomicU32> {
        self.view().word_of_owned(frame)
    }

    /// Counts one more mapping of an ordinary frame in a compartment. False if that is too many.
    pub(crate) fn share(&self, frame: FrameAddress) -> bool {
        let Some(word) = self.word(frame) else {
            return false;
        };
        let count = word.load(Ordering::Relaxed);
        if count >= FREE - 1 {
            return false;
        }
        word.store(count + 1, Ordering::Relaxed);
        true
    }

    /// Counts one mapping of an ordinary frame less.
    pub(crate) fn unshare(&self, frame: FrameAddress) {
        if let Some(word) = self.word(frame) {
            let count = word.load(Ordering::Relaxed);
            word.store(count.saturating_sub(1), Ordering::Relaxed);
        }
    }

    /// How many mappings of an ordinary frame compartments have.
    #[cfg(test)]
    pub(crate) fn shares(&self, frame: FrameAddress) -> u32 {
        let ordinary = self.frames.get(frame.as_u64()) == Some(FrameType::Ordinary);
        let word = self.word(frame).filter(|_| ordinary);
        word.map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Whether a compartment maps a frame of this block of ordinary memory.
    pub fn is_shared(&self, block: u64) -> bool {
        let Some(first) = self.frames.number(block) else {
            return false;
        };
        let words = self.words.iter().skip(first as usize).take(ENTRIES);
        words.fold(0, |all, word| all | word.load(Ordering::Relaxed)) != 0
    }

    /// Enters a block into the list of those with free frames. One frame in 512 leads here, and
    /// the code would cost each of them registers.
    #[cold]
    #[inline(never)]
    fn link(&mut self, number: u32) {
        let next = self.head;
        if let Some(it) = self.blocks.get_mut(next as usize) {
            it.previous = number;
        }
        if let Some(it) = self.blocks.get_mut(number as usize) {
            it.previous = NONE;
            it.next = next;
            self.head = number;
        }
    }

    fn unlink(&mut self, number: u32) {
        let Some(PrivateBlock { previous, next, .. }) = self.blocks.get(number as usize).copied()
        else {
            return;
        };
        match self.blocks.get_mut(previous as usize) {
            Some(it) => it.next = next,
            None => self.head = next,
        }
        if let Some(it) = self.blocks.get_mut(next as usize) {
            it.previous = previous;
        }
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::AtomicU16;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    use super::*;

    /// RAM that begins in the middle of a block.
    const START: u64 = 0x4010_0000;
    const BLOCKS: u64 = 3;
    const FRAMES: usize = (BLOCKS * ENTRIES as u64 + ENTRIES as u64 / 2) as usize;
    const ONE: Owner = Owner::compartment(0);
    const TWO: Owner = Owner::compartment(1);

    struct Ram {
        types: Vec<AtomicU16>,
        words: Vec<AtomicU32>,
        blocks: Vec<PrivateBlock>,
    }

    impl Ram {
        fn new() -> Self {
            Self {
                types: (0..FRAMES).map(|_| AtomicU16::new(0)).collect(),
                words: (0..FRAMES).map(|_| AtomicU32::new(0)).collect(),
                blocks: std::vec![PrivateBlock::NEW; BLOCKS as usize + 1],
            }
        }

        /// With the first `entered` whole blocks.
        fn private(&mut self, entered: u64) -> Private<'_> {
            let frames = FrameTable::new(START, &self.types);
            let mut private =
                Private::new(frames, &self.words, &mut self.blocks).expect("enough words");
            for block in 0..entered {
                let block = block_at(block);
                frames.set_in_block(block, FrameType::Private, 0);
                private.enter(block);
            }
            private
        }
    }

    fn block_at(index: u64) -> u64 {
        START.next_multiple_of(BLOCK_SIZE) + index * BLOCK_SIZE
    }

    /// Takes frames until there are none.
    fn take_all(private: &mut Private<'_>, owner: Owner) -> Vec<u64> {
        let taken = core::iter::from_fn(|| private.take(owner));
        taken.map(FrameAddress::as_u64).collect()
    }

    const fn frame_at(address: u64) -> FrameAddress {
        FrameAddress::containing(address)
    }

    #[test]
    fn every_frame_is_taken_once() {
        let mut ram = Ram::new();
        let mut private = ram.private(2);
        let taken = BTreeSet::from_iter(take_all(&mut private, ONE));
        assert_eq!(taken.len(), 2 * ENTRIES);
        assert_eq!((private.free(), private.total()), (0, 1024));
        let whole = (block_at(0)..block_at(2)).step_by(PAGE_SIZE as usize);
        assert!(taken.iter().copied().eq(whole));
        let owner = |frame: &u64| private.owner(frame_at(*frame));
        assert!(taken.iter().all(|frame| owner(frame) == Some(ONE)));
    }

    #[test]
    fn what_is_given_back_is_taken_again() {
        let mut ram = Ram::new();
        let mut private = ram.private(3);
        let mut taken = take_all(&mut private, ONE);
        // From all blocks, in an order of its own.
        for step in 0..700 {
            let frame = frame_at(taken.swap_remove(step * 7919 % taken.len()));
            private.give_back(frame);
            assert_eq!(private.owner(frame), None);
        }
        assert_eq!(private.free(), 700);
        let again = BTreeSet::from_iter(take_all(&mut private, TWO));
        assert_eq!(again.len(), 700);
        let owner = |frame: &u64| private.owner(frame_at(*frame));
        assert!(taken.iter().all(|frame| owner(frame) == Some(ONE)));
        assert!(again.iter().all(|frame| owner(frame) == Some(TWO)));
    }

    #[test]
    fn a_frame_is_given_back_once() {
        let mut ram = Ram::new();
        let mut private = ram.private(1);
        let frame = private.take(ONE).expect("free");
        private.give_back(frame);
        private.give_back(frame);
        // Nor one that is not private.
        private.give_back(frame_at(block_at(1)));
        assert_eq!(private.free(), 512);
        assert_eq!(take_all(&mut private, ONE).len(), 512);
    }

    #[test]
    fn every_private_frame_is_visited_once() {
        let mut ram = Ram::new();
        let mut private = ram.private(2);
        let taken = (0..700).map_while(|_| private.take(ONE));
        let taken: BTreeSet<u64> = taken.map(FrameAddress::as_u64).collect();
        private
            .frames
            .set_in_block(block_at(2), FrameType::Claimed, 0);
        let (mut all, mut owned) = (Vec::new(), BTreeSet::new());
        private.view().for_each(|frame, has_owner| {
            all.push(frame.as_u64());
            owned.extend(has_owner.then_some(frame.as_u64()));
        });
        let whole = (block_at(0)..block_at(3)).step_by(PAGE_SIZE as usize);
        assert!(all.iter().copied().eq(whole));
        assert_eq!(owned, taken);
    }

    #[test]
    fn a_block_leaves_when_all_of_it_is_free() {
        let mut ram = Ram::new();
        let mut private = ram.private(2);
        let frame = private.take(ONE).expect("free");
        let used = frame.as_u64() & !(BLOCK_SIZE - 1);
        let other = block_at(0) + block_at(1) - used;
        assert!(!private.is_free_block(used) && private.is_free_block(other));
        private.leave(used);
        private.leave(other);
        assert_eq!((private.free(), private.total()), (511, 512));
        let taken = take_all(&mut private, TWO);
        assert!(taken.iter().all(|it| it & !(BLOCK_SIZE - 1) == used));
        assert!(!private.is_free_block(other) && !private.is_free_block(0));
    }

    #[test]
    fn shared_frames_are_counted() {
        let mut ram = Ram::new();
        let private = ram.private(1);
        let (frame, block) = (frame_at(block_at(1)).after(5), block_at(1));
        assert!(!private.is_shared(block));
        assert!(private.share(frame) && private.share(frame));
        private.unshare(frame);
        assert!(private.is_shared(block));
        private.unshare(frame);
        private.unshare(frame);
        assert!(!private.is_shared(block));
        assert!(!private.share(frame_at(START - PAGE_SIZE)));
        assert_eq!(private.owner(frame), None);
    }
}
