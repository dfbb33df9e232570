// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's tables: what the outer domain may write to them, and make of the pools' frames.
//!
//! Every frame of RAM has a type ([`crate::translation::frames`]). A table is a frame of a pool
//! that was typed when it was linked; its entries are written here, and by [`crate::pools`] those
//! of the linear map. A call is checked as a whole first. Then it becomes steps, that is stores,
//! barriers and TLB invalidations, which [`Hardware`](crate::translation::Hardware) carries out one
//! by one in that order; a refused call has no steps. The tables of users are the inner domain's
//! own ([`crate::user_tables`]).
//!
//! Three rules about time hold the rest together:
//!
//! * A valid entry changes in place only in its permissions. An entry that was cleared becomes
//!   valid again only after its address was invalidated *here*: the outer domain's own
//!   invalidations are not trusted. Break-before-make is enforced here.
//! * When a table is unlinked, everything is invalidated at once. So no walk takes a table that is
//!   linked nowhere, or a frame that is free, for what it was.
//! * A frame changes its class only after everything was invalidated.
//!
//! What lies outside: the lock that every caller holds, and the maintenance that hardware
//! updates of entries would need, which no supported configuration turns on.

mod blocks;
mod import;
mod linear;
mod page;
mod pool_frame;
mod release;
mod slots;
mod state;
mod table;
mod text;
mod write;

pub use blocks::{MAX_TABLE_BLOCKS, MAX_TEXT_BLOCKS, PoolKind};
pub use pool_frame::PoolFrame;
pub(crate) use slots::may_be_linked;
pub use state::KernelTables;
pub use text::{KernelLeaf, Seal};
