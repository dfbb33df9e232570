// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools of tables and of text.

use donjon_abi::call::{Error, POOL_PRIVATE, POOL_TABLES, POOL_TEXT};
use donjon_core::rules::{PoolKind, Progress};
use donjon_hal::steps::Executor;

use crate::outcome::{Arguments, Outcome, Refusal};
use crate::{domain, users};

/// Takes a block into a pool, a part in each call. It is busy until the last.
pub fn add([block, kind, ..]: &Arguments) -> Outcome {
    let kind = match *kind {
        POOL_TABLES => PoolKind::Tables,
        POOL_TEXT => PoolKind::Text,
        POOL_PRIVATE => PoolKind::Private,
        _ => return Err(Error::InvalidArgument.into()),
    };
    let mut domain = domain::lock_after_handover()?;
    let shadows = users::live().map(|it| &it.shadows);
    match domain.rules.pool_add(&mut Executor, *block, kind, shadows) {
        Ok(Progress::Done) => Ok(0),
        Ok(Progress::Again) => Err(Error::Busy.into()),
        Err(reason) => Err(Refusal::rule(reason)),
    }
}

/// Gives an unused block back.
pub fn remove([block, ..]: &Arguments) -> Outcome {
    let mut domain = domain::lock_after_handover()?;
    let removed = domain.rules.pool_remove(&mut Executor, *block);
    removed.map(|()| 0).map_err(Refusal::rule)
}
