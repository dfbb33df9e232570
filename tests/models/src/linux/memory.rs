// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that carries out steps and records them.

use donjon_core::translation::{Hardware, Step};

use super::{BLOCK, PAGE, RAM, SECOND_BANK, naive};

/// Number of frames from the first of RAM to the last.
const FRAMES: usize = ((SECOND_BANK + BLOCK - RAM) / PAGE) as usize;

/// Physical memory; what was never written is zero, and so is what is not there.
pub struct Memory {
    frames: Vec<Option<Box<[u64; 512]>>>,
    /// The steps, in their order.
    pub steps: Vec<Step>,
    /// Whether each step that changes an entry that leads to a table must leave all translations
    /// as they are.
    pub watched: bool,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            frames: vec![None; FRAMES],
            steps: Vec::new(),
            watched: false,
        }
    }
}

/// Where a frame stands in the list; past its end for what is not there.
fn number(address: u64) -> usize {
    (address / PAGE).wrapping_sub(RAM / PAGE) as usize
}

impl Memory {
    /// The word at a physical address.
    pub fn get(&self, address: u64) -> u64 {
        assert_eq!(address % 8, 0);
        match self.frames.get(number(address)) {
            Some(Some(frame)) => frame[(address % PAGE / 8) as usize],
            _ => 0,
        }
    }

    /// Changes a word.
    ///
    /// # Panics
    ///
    /// When there is no memory.
    pub fn set(&mut self, address: u64, value: u64) {
        assert_eq!(address % 8, 0);
        let frame = &mut self.frames[number(address)];
        let frame = frame.get_or_insert_with(|| Box::new([0; 512]));
        frame[(address % PAGE / 8) as usize] = value;
    }

    /// Whether a frame is zero.
    pub fn is_zero(&self, frame: u64) -> bool {
        let words = self.frames[number(frame)].as_ref();
        words.is_none_or(|words| words.iter().all(|word| *word == 0))
    }

    fn relinks(&self, entry: u64, value: u64) -> bool {
        let old = self.get(entry);
        self.watched && old & 3 == 3 && value & 3 == 3 && old != value
    }
}

impl Hardware for Memory {
    fn read(&self, entry: u64) -> u64 {
        self.get(entry)
    }

    fn perform(&mut self, step: Step) {
        self.steps.push(step);
        match step {
            Step::Write { entry, value } if self.relinks(entry, value) => {
                let before = naive::translations(self);
                self.set(entry, value);
                let after = naive::translations(self);
                assert!(before == after, "{step:x?} changes what is translated");
            }
            Step::Write { entry, value } => self.set(entry, value),
            Step::ZeroFrame(frame) => {
                self.frames[number(frame)] = None;
            }
            _ => {}
        }
    }
}
