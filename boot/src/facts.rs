// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was found, in the form in which the inner domain is told.

use donjon_abi::boot_info::Bank;
use donjon_abi::layout::MAX_CPUS;
use donjon_core::range::Range;

use crate::device_tree::Cpu;

/// A range.
pub fn bank(range: Range) -> Bank {
    Bank {
        start: range.start(),
        end: range.end(),
    }
}

/// Ranges, empty ones at the end.
pub fn banks<const N: usize>(ranges: &[Range]) -> [Bank; N] {
    let mut banks = [Bank::default(); N];
    for (to, from) in banks.iter_mut().zip(ranges) {
        *to = bank(*from);
    }
    banks
}

/// Numbers of CPUs, zeros at the end.
pub fn mpidrs(list: &[Cpu]) -> [u64; MAX_CPUS] {
    let mut mpidrs = [0; MAX_CPUS];
    for (to, from) in mpidrs.iter_mut().zip(list) {
        *to = from.affinity;
    }
    mpidrs
}
