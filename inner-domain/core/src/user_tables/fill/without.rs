// SPDX-License-Identifier: MIT OR Apache-2.0
//! Descriptors that are read again after they were checked, without the check `ONCE`. The models
//! leave it out as well, so this is part of each build; a product has no call of it.

use crate::translation::{EntryAddress, Hardware};

/// Reads a descriptor again after it was checked. The CPU stays here until it has changed, or for a
/// while: what another CPU does on a busy host must have time to fall between.
pub(super) fn read_again<H: Hardware>(hw: &H, source: EntryAddress, checked: u64) -> u64 {
    const READS: usize = 256;
    let mut reads = (0..READS).map(|_| source.read(hw).0);
    reads.find(|it| *it != checked).unwrap_or(checked)
}
