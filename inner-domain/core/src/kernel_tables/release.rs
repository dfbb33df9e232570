// SPDX-License-Identifier: MIT OR Apache-2.0
//! Returns tables to their pool.

use donjon_abi::call::Reason;

use super::state::{COST_OF_TABLE, KernelTables};
use crate::checks::Checks;
use crate::translation::FrameAddress;
use crate::translation::frames::FrameType;
use crate::translation::{Hardware, Step};

impl<C: Checks> KernelTables<'_, C> {
    /// Makes a table, linked nowhere and without tables below it, a free frame of its pool. A
    /// free one stays what it is.
    ///
    /// # Errors
    ///
    /// A [`Reason`] when it is in use, still maps text, or is no table; nothing has changed then.
    pub fn release<H: Hardware>(&mut self, hw: &mut H, frame: u64) -> Result<(), Reason> {
        let table = FrameAddress::new(frame).ok_or(Reason::WrongFrame)?;
        if !C::PRIVATE_TABLES.is_made() && self.frames.get(frame) == Some(FrameType::Private) {
            self.free(hw, table);
            return Ok(());
        }
        let index = self.pool_index(frame).ok_or(Reason::WrongFrame)?;
        let class = self.frames.get(frame).ok_or(Reason::WrongFrame)?;
        match class {
            FrameType::PoolFree => return Ok(()),
            _ if class.as_table().is_none() => return Err(Reason::WrongFrame),
            _ if !self.pool[index].detached || self.pool[index].children != 0 => {
                return Err(Reason::InUse);
            }
            FrameType::KernelTable3 if self.has_text(hw, table) => return Err(Reason::InUse),
            _ => {}
        }
        self.free(hw, table);
        Ok(())
    }

    fn free<H: Hardware>(&mut self, hw: &mut H, table: FrameAddress) {
        let frame = table.as_u64();
        hw.perform(Step::ZeroFrame(frame));
        hw.perform(Step::BarrierStore);
        self.frames.set(frame, FrameType::PoolFree);
    }

    /// Whether module text is still mapped in a table: its frames would be lost.
    fn has_text<H: Hardware>(&mut self, hw: &H, table: FrameAddress) -> bool {
        self.charge(COST_OF_TABLE);
        let mut leaves = table.entries().map(|entry| entry.read(hw));
        leaves.any(|leaf| leaf.is_executable() && self.is_module_text(leaf))
    }
}
