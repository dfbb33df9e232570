// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whose frame is it? Derived from where things are, and for pools from what the inner domain
//! wrote down in its own memory. How a frame is mapped says nothing about whose it is: what Linux
//! maps read-only is ordinary memory all the same.

use std::collections::BTreeMap;
use std::ops::Range;

use donjon_abi::layout::{GATE, LINEAR_L1_PAGE, ROOT_PAGE, TABLE_BLOCK_SIZE};

use super::descriptor::PAGE;
use super::snapshot::{Facts, Snapshot};
use super::walk::{Leaf, Space, UPPER, Walks, translate};

/// Type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Linux's, for anything.
    Ordinary,
    /// The inner domain's, or the boot stage's page that stays.
    Inner,
    /// The gate page.
    Gate,
    /// A table, or a free frame of a table pool.
    Table,
    /// The 64 KiB block of upper tables.
    TableBlock,
    /// Code of the kernel image.
    KernelText,
    /// The page with the vectors.
    Vectors,
    /// Read-only data of the kernel image.
    ReadOnly,
    /// A pool of text.
    TextPool,
    /// Memory of compartments.
    Private,
    /// Registers of a device that may be mapped.
    Device,
    /// Registers of a device that may not.
    Withheld,
    /// A page of registers that may be mapped read-only.
    ReadableDevice,
    /// Nothing that the device tree names.
    Nothing,
}

impl Class {
    /// A name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::Inner => "inner",
            Self::Gate => "gate",
            Self::Table => "table",
            Self::TableBlock => "table block",
            Self::KernelText => "kernel text",
            Self::Vectors => "vectors",
            Self::ReadOnly => "read-only data",
            Self::TextPool => "text pool",
            Self::Private => "private",
            Self::Device => "device",
            Self::Withheld => "withheld device",
            Self::ReadableDevice => "read-only device",
            Self::Nothing => "no device",
        }
    }

    /// What it counts as in a block. The table block is among the kernel's constants: neither is
    /// ever anything else, and each mapping shows both alike.
    pub const fn in_a_block(self) -> Self {
        match self {
            Self::TableBlock => Self::ReadOnly,
            other => other,
        }
    }

    /// Whether it is a PT frame.
    pub const fn is_table(self) -> bool {
        matches!(self, Self::Table | Self::TableBlock)
    }

    /// Whether EL1 may execute it.
    pub const fn is_text(self) -> bool {
        matches!(
            self,
            Self::KernelText | Self::Vectors | Self::TextPool | Self::Gate
        )
    }

    /// Whether it is no RAM.
    pub const fn is_device(self) -> bool {
        matches!(
            self,
            Self::Device | Self::ReadableDevice | Self::Withheld | Self::Nothing
        )
    }

    /// Whether all its mappings must have the same memory attributes.
    pub const fn has_one_attribute(self) -> bool {
        !self.is_device() && !matches!(self, Self::Ordinary)
    }
}

/// The class of every frame.
pub struct Frames {
    ram: Vec<(Range<u64>, Vec<Class>)>,
    devices: Vec<Range<u64>>,
    read_only_devices: Vec<Range<u64>>,
    withheld: Vec<Range<u64>>,
    /// Physical address of the table block.
    pub table_block: u64,
    /// Physical address of the gate page.
    pub gate: Option<u64>,
}

impl Frames {
    /// Classifies.
    pub fn of(snapshot: &Snapshot, root: u64) -> Self {
        let facts = &snapshot.facts;
        let linux = &facts.linux;
        let block = linux.to_physical(linux.table_block);
        let ram = facts.ram.iter().map(|it| {
            let count = (it.end - it.start) / PAGE;
            (it.clone(), vec![Class::Ordinary; count as usize])
        });
        let gate = translate(&*snapshot.memory, root, GATE, true).map(|it| it.pa);
        let mut frames = Self {
            ram: ram.collect(),
            devices: facts.devices.clone(),
            read_only_devices: facts.read_only_devices.clone(),
            withheld: facts.withheld.clone(),
            table_block: block,
            gate,
        };
        frames.paint(linux.range(&linux.read_only), Class::ReadOnly);
        frames.paint(linux.range(&linux.text), Class::KernelText);
        frames.paint(page_of(linux.to_physical(linux.vectors)), Class::Vectors);
        for pool in &facts.table_pools {
            frames.paint(pool.clone(), Class::Table);
        }
        for pool in &facts.text_pools {
            frames.paint(pool.clone(), Class::TextPool);
        }
        for frame in facts.private.keys() {
            frames.paint(page_of(*frame), Class::Private);
        }
        frames.paint(block..block + TABLE_BLOCK_SIZE, Class::TableBlock);
        for range in &facts.inner {
            frames.paint(range.clone(), Class::Inner);
        }
        let ours = gate.filter(|it| frames.class(*it) == Class::Inner);
        if let Some(gate) = ours {
            frames.paint(page_of(gate), Class::Gate);
        }
        frames
    }

    /// Every table that was reached becomes a PT frame, wherever it is.
    pub fn add_tables(&mut self, walks: &Walks<'_>) {
        let outside: Vec<u64> = walks
            .tables
            .keys()
            .copied()
            .filter(|it| matches!(self.class(*it), Class::Ordinary | Class::ReadOnly))
            .collect();
        for table in outside {
            self.paint(page_of(table), Class::Table);
        }
    }

    /// The class of the frame at `pa`.
    pub fn class(&self, pa: u64) -> Class {
        if let Some((bank, classes)) = self.ram.iter().find(|(it, _)| it.contains(&pa)) {
            return classes[((pa - bank.start) / PAGE) as usize];
        }
        let within = |ranges: &[Range<u64>]| ranges.iter().any(|it| it.contains(&pa));
        if within(&self.read_only_devices) {
            Class::ReadableDevice
        } else if within(&self.withheld) {
            Class::Withheld
        } else if within(&self.devices) {
            Class::Device
        } else {
            Class::Nothing
        }
    }

    /// The classes in a range of whole pages, with the first frame of each.
    pub fn classes(&self, start: u64, size: u64) -> BTreeMap<Class, u64> {
        let mut found = BTreeMap::new();
        for pa in (start..start + size).step_by(PAGE as usize) {
            found.entry(self.class(pa)).or_insert(pa);
        }
        found
    }

    /// How many there are of each class.
    pub fn count(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for class in self.ram.iter().flat_map(|(_, classes)| classes) {
            *counts.entry(class.name()).or_default() += 1;
        }
        counts
    }

    /// Who owns the frame at `pa`, for people.
    pub fn owner(&self, pa: u64, walks: &Walks<'_>) -> String {
        let class = self.class(pa);
        let page = pa & !(PAGE - 1);
        if let Some(table) = walks.tables.get(&page) {
            return format!(
                "{}, table of level {} at {:#x} of the {}",
                class.name(),
                table.level,
                table.va,
                table.space
            );
        }
        if class == Class::TableBlock {
            return format!("table block, page {}", (page - self.table_block) / PAGE);
        }
        class.name().to_owned()
    }

    fn paint(&mut self, range: Range<u64>, class: Class) {
        for (bank, classes) in &mut self.ram {
            let start = range.start.max(bank.start);
            let end = range.end.min(bank.end);
            if start < end {
                let first = ((start - bank.start) / PAGE) as usize;
                let last = ((end - bank.start).div_ceil(PAGE)) as usize;
                classes[first..last].fill(class);
            }
        }
    }
}

/// The root of the outer view, where it must be.
pub const fn block_root(facts: &Facts) -> u64 {
    root_in(facts.linux.to_physical(facts.linux.table_block))
}

/// The root in the table block.
pub const fn root_in(block: u64) -> u64 {
    block + ROOT_PAGE * PAGE
}

/// The level 1 table of the linear map's first slot, where it must be.
pub const fn block_linear(facts: &Facts) -> u64 {
    facts.linux.to_physical(facts.linux.table_block) + LINEAR_L1_PAGE * PAGE
}

/// The page that `pa` is in.
pub const fn page_of(pa: u64) -> Range<u64> {
    let start = pa & !(PAGE - 1);
    start..start + PAGE
}

/// Whether a leaf belongs to the linear map.
pub fn in_linear_map(leaf: &Leaf) -> bool {
    leaf.space == Space::Kernel && leaf.va >> 39 == UPPER >> 39
}
