// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is known about pools besides the kernel's tables: private memory, and blocks on their way.

use super::claims::Claims;
use super::phase::{Extension, Phase};
use crate::checks::{Checks, Configured};
use crate::devices::DeviceList;
use crate::kernel_tables::{KernelTables, PoolFrame};
use crate::memory::private::Private;
use crate::translation::RawDescriptor;
use crate::translation::frames::FrameTable;

/// The memory that the kernel's tables and the pools are kept in, which is the inner domain's.
pub struct Storage<'a> {
    /// The type of every frame of RAM.
    pub frames: FrameTable<'a>,
    /// Metadata of pool frames: 512 for each block that the table pools may have, at most
    /// [`MAX_TABLE_BLOCKS`](crate::kernel_tables::MAX_TABLE_BLOCKS) times.
    pub pool: &'a mut [PoolFrame],
    /// Private memory, none so far.
    pub private: Private<'a>,
}

/// The kernel's tables, private memory, and the blocks that go from one class of memory to another.
pub struct Pools<'a, C: Checks = Configured> {
    /// The kernel's tables.
    pub tables: KernelTables<'a, C>,
    pub(super) private: Private<'a>,
    /// How the linear map shows a block that is not private, its address aside; none before the
    /// first one became private.
    pub(super) linear_block: Option<RawDescriptor>,
    pub(super) extension: Option<Extension>,
    pub(super) claims: Claims,
}

impl<'a> Pools<'a> {
    /// Pools over `storage`, in which the types of all frames but those of pools and tables are
    /// right. `root` is the physical address of the kernel's root.
    pub fn new(storage: Storage<'a>, devices: DeviceList, root: u64) -> Self {
        Self::with_checks(storage, devices, root)
    }
}

impl<'a, C: Checks> Pools<'a, C> {
    /// Makes pools with a choice of checks: [`new`](Pools::new) has all of them.
    pub fn with_checks(storage: Storage<'a>, devices: DeviceList, root: u64) -> Self {
        let Storage {
            frames,
            pool,
            private,
        } = storage;
        Self {
            tables: KernelTables::new(frames, pool, devices, root),
            private,
            linear_block: None,
            extension: None,
            claims: Claims::NONE,
        }
    }

    /// The private frames, and the types of all frames.
    pub const fn private(&mut self) -> (&FrameTable<'a>, &mut Private<'a>) {
        (self.tables.frames(), &mut self.private)
    }

    pub(super) const fn proceed(&mut self, extension: Extension, phase: Phase) {
        self.extension = Some(Extension { phase, ..extension });
    }

    pub(super) fn end_extension(&mut self) {
        self.extension = None;
        self.claims.clear();
    }
}
