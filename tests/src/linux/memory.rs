// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that carries out steps and remembers them.

use std::collections::HashMap;

use donjon_core::rules::{Hardware, Step};

use super::{PAGE, naive, root};

/// Physical memory; what was never written is zero.
#[derive(Default)]
pub struct Memory {
    frames: HashMap<u64, Box<[u64; 512]>>,
    /// The steps, in their order.
    pub steps: Vec<Step>,
    /// Whether each step that changes an entry that leads to a table must leave all translations
    /// as they are.
    pub watched: bool,
}

impl Memory {
    /// The word at a physical address.
    pub fn get(&self, address: u64) -> u64 {
        assert_eq!(address % 8, 0);
        let frame = self.frames.get(&(address & !(PAGE - 1)));
        frame.map_or(0, |frame| frame[(address % PAGE / 8) as usize])
    }

    /// Changes a word.
    pub fn set(&mut self, address: u64, value: u64) {
        assert_eq!(address % 8, 0);
        let frame = self.frames.entry(address & !(PAGE - 1));
        frame.or_insert_with(|| Box::new([0; 512]))[(address % PAGE / 8) as usize] = value;
    }

    /// Whether a frame is zero.
    pub fn is_zero(&self, frame: u64) -> bool {
        let words = self.frames.get(&frame);
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
                let before = naive::translations(self, root());
                self.set(entry, value);
                let after = naive::translations(self, root());
                assert!(before == after, "{step:x?} changes what is translated");
            }
            Step::Write { entry, value } => self.set(entry, value),
            Step::ZeroFrame(frame) => {
                self.frames.remove(&frame);
            }
            _ => {}
        }
    }
}
