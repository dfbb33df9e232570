// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the counters of the inner domain.

use std::collections::HashMap;
use std::fs;
use std::io::Result;

const STATS: &str = "/sys/kernel/security/donjon/stats";

/// A column of the file.
#[derive(Clone, Copy)]
pub enum Column {
    /// Calls.
    Calls = 2,
    /// Instructions of all calls, while the cycle counter ran.
    Instructions = 4,
    /// Instructions of the longest call, while the cycle counter ran.
    Worst = 7,
}

/// One counter by function: the sum over all CPUs, of [`Column::Worst`] the maximum.
pub fn counters(column: Column) -> Result<HashMap<String, u64>> {
    let mut values = HashMap::new();
    for line in fs::read_to_string(STATS)?.lines().skip(1) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if let (Some(name), Some(Ok(value))) = (
            fields.get(1),
            fields.get(column as usize).map(|it| it.parse::<u64>()),
        ) {
            let all: &mut u64 = values.entry((*name).to_owned()).or_default();
            *all = match column {
                Column::Worst => value.max(*all),
                _ => *all + value,
            };
        }
    }
    Ok(values)
}
