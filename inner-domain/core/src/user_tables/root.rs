// SPDX-License-Identifier: MIT OR Apache-2.0
//! Trees come and go, and CPUs switch between them.

use core::sync::atomic::Ordering;

use donjon_abi::call::{Process, Reason};
use donjon_abi::tcr::LAST_RESERVED_ASID;

use super::UserTables;
use super::cell::{NONE, Root};
use super::path::Tree;
use crate::checks::Checks;
use crate::translation::{Hardware, RawDescriptor, Step, flush};

/// Position of the ASID in TTBR0_EL1.
const ASID_SHIFT: u32 = 48;

impl<C: Checks> UserTables<'_, C> {
    /// Loads the tree of an ASID on a CPU, the caller's own, or for ASID 0 the root that maps
    /// nothing. A tree that is not there, or another process's, begins empty.
    ///
    /// # Errors
    ///
    /// [`Reason::BadAsid`] for the reserved ASID, and for one that another CPU uses for another
    /// process; [`Reason::NoRoom`] when the pages of all trees are in use.
    pub fn switch<H: Hardware>(
        &self,
        hw: &mut H,
        cpu: usize,
        process: Process,
    ) -> Result<(), Reason> {
        if self.switch_fast(hw, cpu, process) {
            return Ok(());
        }
        if process.asid() == 0 {
            self.leave(hw, cpu);
            return Ok(());
        }
        self.switch_to_new(hw, cpu, process)
    }

    /// Switches to the tree of a process on the fast path, if the ASID already leads to it. False
    /// if there is more to do.
    #[inline(always)]
    pub fn switch_fast<H: Hardware>(&self, hw: &mut H, cpu: usize, process: Process) -> bool {
        let Some(tree) = self.lock_fast(process) else {
            return false;
        };
        self.load(hw, cpu, &tree);
        true
    }

    /// Loads the root that maps nothing, also before a CPU is switched off.
    pub fn leave<H: Hardware>(&self, hw: &mut H, cpu: usize) {
        let ttbr0 = self.reserved_root.as_u64();
        hw.perform(Step::LoadRoot { cpu, ttbr0 });
        self.note(cpu, 0);
    }

    /// Begins with no tree on a CPU that had a root of the outer domain's until now. Its TLB may
    /// hold what that root translated, under ASIDs that have a tree already: whatever comes from no
    /// tree is dropped.
    pub fn begin<H: Hardware>(&self, hw: &mut H, cpu: usize) {
        self.leave(hw, cpu);
        flush::everything(hw);
    }

    /// Loads a tree while its lock is held: nothing drops it before the CPU counts.
    #[inline(always)]
    fn load<H: Hardware>(&self, hw: &mut H, cpu: usize, tree: &Tree<'_>) {
        let ttbr0 =
            self.frame(tree.number).as_u64() | u64::from(tree.root.process.asid()) << ASID_SHIFT;
        // The step ends with an ISB. Until then the CPU may walk its old tree, which is why the old
        // one counts until behind it.
        hw.perform(Step::LoadRoot { cpu, ttbr0 });
        self.note(cpu, tree.number + 1);
    }

    fn note(&self, cpu: usize, root: u32) {
        if let Some(current) = self.current.get(cpu) {
            current.store(root, Ordering::Release);
        }
    }

    #[cold]
    #[inline(never)]
    fn switch_to_new<H: Hardware>(
        &self,
        hw: &mut H,
        cpu: usize,
        process: Process,
    ) -> Result<(), Reason> {
        if C::ASID.is_made() && process.asid() <= LAST_RESERVED_ASID {
            return Err(Reason::BadAsid);
        }
        loop {
            if let Some(mut tree) = self.lock(process.asid()) {
                if tree.root.process != process {
                    if C::ASID.is_made() && self.is_current_elsewhere(cpu, tree.number) {
                        return Err(Reason::BadAsid);
                    }
                    // This CPU may have it, and a walk could bring back what is being dropped.
                    self.leave(hw, cpu);
                    self.empty(hw, &mut tree);
                    tree.root.process = process;
                }
                self.load(hw, cpu, &tree);
                return Ok(());
            }
            if let Some(tree) = self.make_tree(hw, process)? {
                self.load(hw, cpu, &tree);
                return Ok(());
            }
        }
    }

    /// Makes an empty tree and holds its lock, or it would be dropped before it is loaded. None if
    /// another CPU has made one meanwhile.
    fn make_tree<H: Hardware>(
        &self,
        hw: &mut H,
        process: Process,
    ) -> Result<Option<Tree<'_>>, Reason> {
        let number = self.allocate(hw).ok_or(Reason::NoRoom)?;
        let cell = self.cell(number);
        let mut root = cell.root.lock();
        *root = Root {
            process,
            generation: self.generation(),
            ..Root::NEW
        };
        cell.level.set(0);
        let tree = Tree { root, number };
        let asid = process.asid();
        let slot = self.asids.get(usize::from(asid)).ok_or(Reason::BadAsid)?;
        let published = slot.compare_exchange(0, number + 1, Ordering::AcqRel, Ordering::Relaxed);
        if published.is_err() {
            self.retire(tree);
            self.give_back_one(number);
            return Ok(None);
        }
        cell.birth.set(tree.root.generation);
        cell.owner.set(number);
        // What the ASID's last tree left in a TLB was dropped with it. What a tree of before the
        // first one left was not: Linux's own, until the hand-over. The barrier is also what
        // `withdraw` relies on: a search that did not see this root comes before every check
        // that is made for it.
        flush::asid(hw, asid);
        Ok(Some(tree))
    }

    /// Drops all that a tree translates. It stays, and stays the root of the CPUs that have it.
    /// Without a tree there is nothing to drop.
    pub fn clear<H: Hardware>(&self, hw: &mut H, process: Process) {
        if let Some(mut tree) = self.lock_of(process) {
            self.empty(hw, &mut tree);
        }
    }

    /// Drops a tree.
    ///
    /// # Errors
    ///
    /// [`Reason::InUse`] while a CPU has it.
    pub fn free<H: Hardware>(&self, hw: &mut H, process: Process) -> Result<(), Reason> {
        let Some(tree) = self.lock_of(process) else {
            return Ok(());
        };
        if self.is_current(tree.number) {
            return Err(Reason::InUse);
        }
        self.drop_tree(hw, tree);
        Ok(())
    }

    /// Unlinks all tables from the root.
    pub(super) fn empty<H: Hardware>(&self, hw: &mut H, tree: &mut Tree<'_>) {
        let cell = self.cell(tree.number);
        let mut groups = cell.valid.get();
        cell.valid.set(0);
        while groups != 0 {
            let group = u64::from(groups.trailing_zeros());
            groups &= groups - 1;
            for index in group * 8..group * 8 + 8 {
                let entry = self.frame(tree.number).entry(index as usize);
                entry.write(hw, RawDescriptor::INVALID);
            }
        }
        let chain = self.detach_all(tree);
        cell.birth.set(tree.root.generation);
        flush::asid(hw, tree.root.process.asid());
        if let Some(chain) = chain {
            self.give_back(chain);
        }
    }

    /// Drops a tree that no CPU has.
    pub(super) fn drop_tree<H: Hardware>(&self, hw: &mut H, mut tree: Tree<'_>) {
        let number = tree.number;
        let asid = tree.root.process.asid();
        let chain = self.detach_all(&mut tree);
        if let Some(slot) = self.asids.get(usize::from(asid)) {
            slot.store(0, Ordering::Release);
        }
        flush::asid(hw, asid);
        self.retire(tree);
        if let Some(chain) = chain {
            self.give_back(chain);
        }
        self.give_back_one(number);
    }

    /// The page is no root any more. A call that waits for its lock finds that out.
    fn retire(&self, mut tree: Tree<'_>) {
        self.cell(tree.number).owner.set(NONE);
        tree.root.process = Process::NONE;
    }
}
