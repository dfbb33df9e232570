// SPDX-License-Identifier: MIT OR Apache-2.0
//! User roots and their ASIDs.
//!
//! An ASID belongs to one root at a time, and a root has one ASID on all CPUs that it is current
//! on. What the TLB holds under an ASID is dropped when the ASID gets a root, not when it loses
//! one: nobody uses it in between.

use donjon_abi::call::Reason;
use donjon_abi::layout::PAGE_SIZE;
use donjon_abi::tcr::RESERVED_ASID;

use super::Rules;
use super::checks::Checks;
use super::pool_frame::NO_ROOT;
use super::step::Hardware;
use crate::frames::FrameType;

/// Position of the ASID in TTBR0_EL1.
const ASID_SHIFT: u32 = 48;

impl<C: Checks> Rules<'_, C> {
    /// Makes a user root of a free frame.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongFrame`] for any other frame.
    pub fn new_root<H: Hardware>(&mut self, hw: &mut H, frame: u64) -> Result<(), Reason> {
        let free = self.frames.get(frame) == Some(FrameType::PoolFree);
        if !frame.is_multiple_of(PAGE_SIZE) || !free {
            return Err(Reason::WrongFrame);
        }
        let index = self.pool_index(frame).ok_or(Reason::WrongFrame)?;
        self.settle(hw, index, FrameType::UserTable0);
        self.make_root(index);
        self.frames.set(frame, FrameType::UserTable0);
        Ok(())
    }

    /// Metadata of a root without tables.
    pub(super) fn make_root(&mut self, index: usize) {
        let root = &mut self.pool[index];
        root.va = 0;
        root.root = NO_ROOT;
        root.children = 0;
        root.asid_or_epoch = 0;
        root.unflushed = false;
    }

    /// Makes `root`, or for 0 the root that maps nothing, the current one of a CPU: the value
    /// for TTBR0_EL1, which the CPU must have before any walk of the lower range.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongFrame`] for what is no user root, [`Reason::BadAsid`] for an ASID that is
    /// reserved, or that one CPU uses with another root, or when another CPU uses this root
    /// with another one.
    pub fn switch_root<H: Hardware>(
        &mut self,
        hw: &mut H,
        cpu: usize,
        root: u64,
        asid: u64,
    ) -> Result<u64, Reason> {
        let current = self.current.get_mut(cpu).ok_or(Reason::WrongFrame)?;
        if root == 0 {
            *current = 0;
            return Ok(self.reserved_root);
        }
        let is_root = self.frames.get(root) == Some(FrameType::UserTable0);
        if !is_root || !root.is_multiple_of(PAGE_SIZE) {
            if C::ROOT {
                return Err(Reason::WrongFrame);
            }
            *current = 0;
            return Ok(root | asid << ASID_SHIFT);
        }
        let asid = u16::try_from(asid).map_err(|_| Reason::BadAsid)?;
        let index = self.pool_index(root).ok_or(Reason::WrongFrame)?;
        // A root's ASID is never 0 while it has one, and it is never the reserved one.
        if asid == 0 || self.pool[index].asid_or_epoch != asid {
            self.give_asid(hw, cpu, index, asid)?;
        }
        if let Some(current) = self.current.get_mut(cpu) {
            *current = index as u16 + 1;
        }
        Ok(root | u64::from(asid) << ASID_SHIFT)
    }

    /// The root of a CPU that is switched off, from the CPU itself.
    pub fn cpu_gone(&mut self, cpu: usize) {
        if let Some(current) = self.current.get_mut(cpu) {
            *current = 0;
        }
    }

    #[cold]
    #[inline(never)]
    fn give_asid<H: Hardware>(
        &mut self,
        hw: &mut H,
        cpu: usize,
        index: usize,
        asid: u16,
    ) -> Result<(), Reason> {
        let number = index as u16 + 1;
        let owner = self.owner(asid);
        if C::ASID {
            let taken = owner != 0 && self.is_current_elsewhere(cpu, owner);
            let reserved = asid == 0 || asid == RESERVED_ASID;
            if reserved || taken || self.is_current_elsewhere(cpu, number) {
                return Err(Reason::BadAsid);
            }
        }
        if owner != 0 {
            self.disown(usize::from(owner) - 1);
        }
        self.disown(index);
        self.flush_asid(hw, asid);
        self.pool[index].asid_or_epoch = asid;
        self.set_owner(asid, number);
        Ok(())
    }

    /// Takes a root's ASID away from it.
    pub(super) fn disown(&mut self, index: usize) {
        let asid = self.pool[index].asid_or_epoch;
        self.pool[index].asid_or_epoch = 0;
        self.set_owner(asid, 0);
        self.forget_root(index);
    }

    pub(super) fn owner(&self, asid: u16) -> u16 {
        self.asids.get(usize::from(asid)).copied().unwrap_or(0)
    }

    pub(super) fn set_owner(&mut self, asid: u16, number: u16) {
        if let Some(owner) = self.asids.get_mut(usize::from(asid)) {
            *owner = number;
        }
    }

    fn is_current_elsewhere(&self, cpu: usize, number: u16) -> bool {
        let mut others = self.current.iter().enumerate();
        others.any(|(other, current)| other != cpu && *current == number)
    }
}
