// SPDX-License-Identifier: MIT OR Apache-2.0
//! Physical memory, the order of steps, and the TLBs that fill from it.

use std::collections::BTreeMap;

use donjon_core::translation::{Hardware, Step};

use super::caches::{Caches, Invalidation};

/// Bytes of a frame.
pub const PAGE: u64 = 4096;

/// What was done wrong, in words.
pub type Violation = String;

/// One frame.
#[derive(Clone)]
struct Frame {
    words: [u64; 512],
    /// Which of them are valid descriptors.
    valid: [u64; 8],
}

/// The contents of frames; those never written are zero.
#[derive(Clone, Default)]
pub struct Frames(BTreeMap<u64, Box<Frame>>);

impl Frames {
    /// The word at a physical address.
    pub fn read(&self, address: u64) -> u64 {
        let frame = self.0.get(&(address & !(PAGE - 1)));
        frame.map_or(0, |frame| frame.words[(address / 8 % 512) as usize])
    }

    /// Replaces a word.
    pub fn write(&mut self, address: u64, value: u64) {
        let frame = self.0.entry(address & !(PAGE - 1)).or_insert_with(|| {
            Box::new(Frame {
                words: [0; 512],
                valid: [0; 8],
            })
        });
        let index = (address / 8 % 512) as usize;
        frame.words[index] = value;
        let valid = &mut frame.valid[index / 64];
        *valid = *valid & !(1 << (index % 64)) | (value & 1) << (index % 64);
    }

    /// The valid descriptors of a frame and their indices.
    pub fn valid(&self, frame: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let frame = self.0.get(&frame).into_iter();
        frame.flat_map(|frame| {
            (0..8).flat_map(move |word| {
                let mut left = frame.valid[word];
                std::iter::from_fn(move || {
                    let bit = (left != 0).then_some(left.trailing_zeros() as usize)?;
                    left &= left - 1;
                    let index = word * 64 + bit;
                    Some((index as u64, frame.words[index]))
                })
            })
        })
    }

    /// A frame in which two memories differ.
    pub fn difference(&self, other: &Self) -> Option<u64> {
        const ZERO: [u64; 512] = [0; 512];
        let words = |it: &Self, frame| it.0.get(&frame).map_or(ZERO, |frame| frame.words);
        let mut frames = self.0.keys().chain(other.0.keys()).copied();
        frames.find(|frame| words(self, *frame) != words(other, *frame))
    }

    /// Fills a frame with zeros.
    pub fn zero(&mut self, frame: u64) {
        self.0.remove(&frame);
    }
}

/// Memory and TLBs, on which steps are carried out.
pub struct SmallMachine {
    /// What stands in memory.
    pub frames: Frames,
    /// What the TLBs hold.
    pub caches: Caches,
    /// What went wrong, in the order in which it was noticed.
    pub violations: Vec<Violation>,
    /// Every step, while they are recorded.
    pub trace: Option<Vec<Step>>,
    /// Steps that are lost on this machine.
    pub deaf_to: Option<fn(Step) -> bool>,
    /// Whether a store has not been made visible to walks.
    unseen: bool,
    issued: Vec<Invalidation>,
}

impl SmallMachine {
    /// Memory in which `root` is the root of the upper range.
    pub fn new(root: u64) -> Self {
        Self {
            frames: Frames::default(),
            caches: Caches::new(root),
            violations: Vec::new(),
            trace: None,
            deaf_to: None,
            unseen: false,
            issued: Vec::new(),
        }
    }

    /// What must hold when a call returns.
    pub fn expect_nothing_pending(&mut self) {
        if !self.issued.is_empty() {
            self.violations
                .push(format!("no barrier completes {:?}", self.issued));
            self.issued.clear();
        }
        // The way out of the inner domain has no DSB, but the outer domain gains nothing from
        // its own store being seen late.
        self.unseen = false;
        self.violations.append(&mut self.caches.violations);
    }

    fn invalidate(&mut self, invalidation: Invalidation) {
        if self.unseen {
            self.violations.push(format!(
                "{invalidation:?} while a walk may still see what was there before the last store"
            ));
        }
        self.issued.push(invalidation);
    }
}

impl Hardware for SmallMachine {
    fn read(&self, entry: u64) -> u64 {
        self.frames.read(entry)
    }

    fn perform(&mut self, step: Step) {
        if let Some(trace) = &mut self.trace {
            trace.push(step);
        }
        if self.deaf_to.is_some_and(|lost| lost(step)) {
            return;
        }
        match step {
            Step::Write { entry, value } => {
                if !entry.is_multiple_of(8) {
                    self.violations.push(format!("a store to {entry:#x}"));
                }
                self.caches.must_not_write(entry & !(PAGE - 1));
                self.frames.write(entry, value);
                self.caches.entry_changed(&self.frames, entry);
                self.unseen = true;
            }
            Step::ZeroFrame(frame) => {
                self.caches.must_not_write(frame);
                self.frames.zero(frame);
                self.unseen = true;
            }
            Step::ZeroGroups { frame, .. } => {
                self.violations
                    .push(format!("{frame:#x} is zeroed in part"));
            }
            Step::CleanFrame(_) => {}
            Step::BarrierStore => self.unseen = false,
            Step::Barrier => {
                self.unseen = false;
                for invalidation in std::mem::take(&mut self.issued) {
                    self.caches.invalidate(&self.frames, invalidation);
                }
            }
            Step::InvalidateLeaf { va } => self.invalidate(Invalidation::Leaf(va)),
            Step::InvalidateTable { va } => self.invalidate(Invalidation::Address(va)),
            Step::InvalidateAll => self.invalidate(Invalidation::All),
            Step::InvalidatePage { .. } | Step::InvalidateAsid(_) | Step::LoadRoot { .. } => {
                self.violations
                    .push(format!("{step:?}, which is for users"));
            }
        }
    }
}
