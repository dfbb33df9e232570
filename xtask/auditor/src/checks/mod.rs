// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks of the invariants, each written from its sentence in the documentation.

pub mod compartments;
pub mod constants;
pub mod dma;
pub mod el2;
pub mod geometry;
pub mod groups;
pub mod mappings;
pub mod parked;
pub mod registers;
pub mod root;
pub mod tables;
pub mod text;
pub mod usb;
pub mod vectors;

use super::frames::Frames;
use super::snapshot::{Cpu, Snapshot};
use super::walk::Walks;

/// What a check looks at.
pub struct World<'a> {
    /// The machine.
    pub snapshot: &'a Snapshot,
    /// Tables and leaves of the machine.
    pub walks: &'a Walks<'a>,
    /// Frames of the machine.
    pub frames: &'a Frames,
    /// Root of the kernel's tables, as the CPUs have it.
    pub root: u64,
}

impl World<'_> {
    /// Who owns the frame at `pa`.
    pub fn owner(&self, pa: u64) -> String {
        self.frames.owner(pa, self.walks)
    }

    /// The CPUs that run and are in no compartment, nor on the way.
    pub fn outside_compartments(&self) -> impl Iterator<Item = &Cpu> {
        let facts = &self.snapshot.facts;
        let running = self.snapshot.running();
        running.filter(|it| !registers::is_in_compartment(facts, it))
    }
}
