// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far claimed blocks are on their way into a pool, or out of one.

use crate::kernel_tables::PoolKind;
use crate::user_tables::Withdrawal;

/// Whether an extended pool is ready, or a block is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Not yet: the same call again.
    Again,
    /// The pool is ready, or the block is gone.
    Done,
}

/// The claimed blocks on their way.
#[derive(Clone, Copy)]
pub(super) struct Extension {
    pub(super) kind: PoolKind,
    /// Number of a block of tables, which is its own from the beginning; 0 for other pools.
    pub(super) number: u8,
    pub(super) phase: Phase,
}

#[derive(Clone, Copy)]
pub(super) enum Phase {
    /// Waits for blocks that are to be searched for together with these.
    Wait,
    /// Drops the shadows of the blocks' frames.
    Withdraw(Withdrawal),
    /// Searches the tables, from the pool frame with this number on.
    Search(usize),
    /// Fills the blocks with zeros, from this frame of all of them on.
    Zero(usize),
    /// A mapping was found: makes the blocks ordinary again, from this one of them on.
    Return(usize),
    /// Cleans a block that goes back to the outer domain, from this frame on.
    Clean(usize),
}

impl Extension {
    /// The state in which a block of private memory begins to go back.
    pub(super) const REMOVAL: Self = Self {
        kind: PoolKind::Private,
        number: 0,
        phase: Phase::Clean(0),
    };
}
