// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools of tables and of text.

use donjon_abi::call::{Error, POOL_PRIVATE, POOL_TABLES, POOL_TEXT, Reason};
use donjon_core::kernel_tables::PoolKind;
use donjon_core::pools::Progress;
use donjon_hal::steps::Executor;

use crate::outcome::{Arguments, Outcome, Refusal};
use crate::{domain, user_tables};

/// Takes a block into a pool, a part in each call. It is busy until the last. A block that waits is
/// claimed, and taken with the first that does not.
pub fn add([block, kind, waits, ..]: &Arguments) -> Outcome {
    let kind = match (*kind, *waits) {
        (POOL_TABLES, 0) => PoolKind::Tables,
        (POOL_TEXT, 0) => PoolKind::Text,
        (POOL_PRIVATE, 0 | 1) => PoolKind::Private,
        _ => return Err(Error::InvalidArgument.into()),
    };
    let mut domain = domain::lock_after_handover()?;
    if *waits == 1 {
        let claimed = domain.pools.add_waiting(&mut Executor, *block);
        return claimed.map(|()| 0).map_err(Refusal::rule);
    }
    let user_tables = user_tables::live().map(|it| &it.tables);
    outcome(domain.pools.add(&mut Executor, *block, kind, user_tables))
}

/// Gives an unused block back, private memory a part in each call.
pub fn remove([block, ..]: &Arguments) -> Outcome {
    let mut domain = domain::lock_after_handover()?;
    outcome(domain.pools.remove(&mut Executor, *block))
}

fn outcome(progress: Result<Progress, Reason>) -> Outcome {
    match progress {
        Ok(Progress::Done) => Ok(0),
        Ok(Progress::Again) => Err(Error::Busy.into()),
        Err(reason) => Err(Refusal::rule(reason)),
    }
}
