// SPDX-License-Identifier: MIT OR Apache-2.0
//! Module text: finds the leaf of a kernel address, and makes pages executable.

use donjon_abi::call::Reason;
use donjon_abi::layout::{PAGE_SIZE, ROOT_HALF, SLOT_SIZE, VMALLOC_END, VMALLOC_END_SLOT};
use donjon_abi::tcr::MAIR_NORMAL;

use super::state::KernelTables;
use crate::checks::Checks;
use crate::translation::address::{ENTRIES, Level, VirtualAddress};
use crate::translation::descriptor::{Attributes, Descriptor};
use crate::translation::frames::{FrameType, type_of};
use crate::translation::{EntryAddress, FrameAddress, RawDescriptor};
use crate::translation::{Hardware, Step};
use crate::translation::{bits, flush, leaf};

/// Where modules and vmalloc begin: the upper half of Linux's 47 bits.
const FIRST_MAPPABLE: u64 = VMALLOC_END - (VMALLOC_END_SLOT - ROOT_HALF / 2) as u64 * SLOT_SIZE;

/// A leaf that translates a kernel address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelLeaf {
    /// Physical address of the entry.
    pub entry: u64,
    /// Physical address of the page that the address is in.
    pub page: u64,
    /// Level of the entry.
    pub level: Level,
    /// Type of that page; none for a device.
    pub frame: Option<FrameType>,
    /// Whether EL1 may execute what it finds at the address.
    pub executable: bool,
}

/// A page that is being made executable.
#[derive(Debug, PartialEq, Eq)]
pub struct Seal {
    /// Physical address of the page that is mapped now.
    pub from: u64,
    /// Physical address of the frame that is to take its place.
    pub to: u64,
    /// Physical address of the entry.
    pub entry: u64,
    /// What stands in the entry.
    leaf: RawDescriptor,
    va: VirtualAddress,
}

impl Seal {
    /// Virtual address of the page.
    pub const fn address(&self) -> u64 {
        self.va.as_u64()
    }
}

impl<C: Checks> KernelTables<'_, C> {
    /// Finds the leaf of an address in Linux's upper range, if something is mapped there.
    pub fn kernel_leaf<H: Hardware>(&self, hw: &H, va: u64) -> Option<KernelLeaf> {
        self.leaf_of(hw, VirtualAddress::new(va)?)
    }

    /// The search of [`kernel_leaf`](Self::kernel_leaf).
    pub(super) fn leaf_of<H: Hardware>(&self, hw: &H, va: VirtualAddress) -> Option<KernelLeaf> {
        if va < VirtualAddress::OUTER {
            return None;
        }
        // The outer view indexes the root with one bit less.
        let mut entry = self.root.entry(va.index(Level::Zero) % ROOT_HALF);
        let mut level = Level::Zero;
        loop {
            match Descriptor::decode(entry.read(hw).0, level) {
                Descriptor::Invalid => return None,
                Descriptor::Table { next, .. } => {
                    level = level.next()?;
                    entry = FrameAddress::of(next).entry(va.index(level));
                }
                Descriptor::Block { output, attributes }
                | Descriptor::Page { output, attributes } => {
                    let page = output.as_u64() + ((va.as_u64() % level.size()) & !(PAGE_SIZE - 1));
                    return Some(KernelLeaf {
                        entry: entry.as_u64(),
                        page,
                        level,
                        frame: type_of(self.frames.word(page)),
                        executable: !attributes.contains(Attributes::PRIVILEGED_EXECUTE_NEVER),
                    });
                }
            }
        }
    }

    /// Begins to make the page at `va` executable: the caller fills the frame `to` with what it
    /// found fit in `from`, makes the caches of all CPUs agree on it, then finishes or aborts. If
    /// it leaves the inner domain before, it resumes the seal first.
    ///
    /// # Errors
    ///
    /// [`Reason::NotText`] for an address outside the vmalloc range or where no writable page is
    /// mapped on its own, [`Reason::BadTarget`] when the page is not ordinary memory,
    /// [`Reason::NoRoom`] when the text pools are used up. Nothing has changed then.
    pub fn seal_begin<H: Hardware>(&mut self, hw: &mut H, va: u64) -> Result<Seal, Reason> {
        let mappable = (FIRST_MAPPABLE..VMALLOC_END).contains(&va);
        if !mappable || !va.is_multiple_of(PAGE_SIZE) {
            return Err(Reason::NotText);
        }
        let va = VirtualAddress::new(va).ok_or(Reason::NotText)?;
        let found = self.leaf_of(hw, va).ok_or(Reason::NotText)?;
        let value = RawDescriptor(hw.read(found.entry));
        let page = found.level == Level::Three && self.pool_index(found.entry).is_some();
        if !page || !leaf::is_writable::<C>(value) || value.is_executable() {
            return Err(Reason::NotText);
        }
        if found.frame != Some(FrameType::Ordinary) {
            return Err(Reason::BadTarget);
        }
        let to = self.take_text().ok_or(Reason::NoRoom)?;
        Ok(Seal {
            from: found.page,
            to: to.as_u64(),
            entry: found.entry,
            leaf: value,
            va,
        })
    }

    /// Goes on with a seal in another call: its source is read again.
    ///
    /// # Errors
    ///
    /// [`Reason::InUse`] when the entry, or the type of the source, has changed meanwhile: the
    /// frame may be private by now, and what is copied to text can be read. The seal is aborted
    /// then.
    pub fn seal_resume<H: Hardware>(&mut self, hw: &H, seal: Seal) -> Result<Seal, Reason> {
        let is_ordinary = self.frames.get(seal.from) == Some(FrameType::Ordinary);
        if !C::SOURCE.is_made() || is_ordinary && self.unchanged(hw, &seal).is_some() {
            return Ok(seal);
        }
        self.seal_abort(seal);
        Err(Reason::InUse)
    }

    /// Maps the copy in place of the original, read-only and executable.
    ///
    /// # Errors
    ///
    /// [`Reason::InUse`] when the entry has changed meanwhile. The seal is aborted then.
    pub fn seal_finish<H: Hardware>(&mut self, hw: &mut H, seal: Seal) -> Result<(), Reason> {
        let Seal { to, leaf, va, .. } = seal;
        let Some((entry, table)) = self.unchanged(hw, &seal) else {
            self.seal_abort(seal);
            return Err(Reason::InUse);
        };
        entry.write(hw, RawDescriptor::INVALID);
        flush::leaf(hw, va);
        self.pool[table].clear_stale(entry.index());
        let value = to
            | bits::TABLE
            | u64::from(MAIR_NORMAL) << bits::INDEX_SHIFT
            | bits::INNER_SHAREABLE
            | bits::READ_ONLY
            | bits::ACCESSED
            | bits::NO_EL0
            | leaf.0 & bits::SOFTWARE;
        entry.write(hw, RawDescriptor(value));
        hw.perform(Step::BarrierStore);
        Ok(())
    }

    /// The entry that a seal is about and the number of its table, if it still translates the
    /// same address in the same way.
    fn unchanged<H: Hardware>(&self, hw: &H, seal: &Seal) -> Option<(EntryAddress, usize)> {
        let entry = EntryAddress::new(seal.entry)?;
        let class = type_of(self.frames.word(seal.entry));
        if class != Some(FrameType::KernelTable3) || entry.read(hw) != seal.leaf {
            return None;
        }
        let table = self.pool_index(seal.entry)?;
        let va = self.pool[table].va.of_entry(Level::Three, entry.index());
        (va == seal.va).then_some((entry, table))
    }

    /// Gives the frame back. The mapping has not changed.
    pub fn seal_abort(&mut self, seal: Seal) {
        if let Some(frame) = FrameAddress::new(seal.to) {
            self.free_text(frame);
        }
    }

    /// Takes a frame out of the text pools. Only [`seal_finish`](Self::seal_finish) makes it
    /// executable. It is not claimed: whoever searches for mappings of claimed frames takes each of
    /// them for one of a block, and looks for that in a list.
    fn take_text(&mut self) -> Option<FrameAddress> {
        let blocks = &mut self.blocks.text;
        let block = blocks.iter_mut().flatten().find(|it| it.free != 0)?;
        let mut words = self.frames.words(block.start.as_u64(), ENTRIES)?;
        let free = FrameType::TextPoolFree as u16;
        let index = words.position(|word| word == free)?;
        block.free -= 1;
        let frame = block.start.after(index as u64);
        self.frames.set(frame.as_u64(), FrameType::ModuleText);
        Some(frame)
    }

    /// Puts a frame back into its text pool.
    pub(super) fn free_text(&mut self, frame: FrameAddress) {
        self.frames.set(frame.as_u64(), FrameType::TextPoolFree);
        if let Some(Some(block)) = self.blocks.text_of(frame) {
            block.free += 1;
        }
    }
}
