// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many tables for few pages.

use anyhow::Result;

use crate::child::Child;
use crate::memory::{Mapping, PAGE, TABLE_SPAN};

/// Tables of the last level that are in use at once: 12 MiB of them.
const TABLES: usize = 3000;

/// One page in each of many tables; a fork that copies them all; all of it given back and taken
/// again.
pub fn sparse() -> Result<()> {
    for round in 0..3 {
        let memory = Mapping::reserved(TABLES * TABLE_SPAN)?;
        let page = |table: usize| table * TABLE_SPAN / PAGE + table % 512;
        (0..TABLES).for_each(|table| memory.stamp_page(page(table), round));
        Child::start(|| {
            for table in 0..TABLES {
                memory.check_page(page(table), round)?;
                memory.stamp_page(page(table), 5);
            }
            Ok(())
        })?
        .join()?;
        (0..TABLES).try_for_each(|table| memory.check_page(page(table), round))?;
    }
    Ok(())
}
