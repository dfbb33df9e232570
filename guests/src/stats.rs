// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters of the inner domain.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::FileExt;

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
///
/// # Errors
///
/// If the file cannot be read, as over a kernel without an inner domain.
pub fn counters(column: Column) -> Result<HashMap<String, u64>> {
    let mut values = HashMap::new();
    for line in fs::read_to_string(STATS)?.lines().skip(1) {
        if let (Some(name), Some(value)) = (function(line), number(line, column)) {
            let all: &mut u64 = values.entry(name.to_owned()).or_default();
            *all = match column {
                Column::Worst => value.max(*all),
                _ => *all + value,
            };
        }
    }
    Ok(values)
}

fn function(line: &str) -> Option<&str> {
    line.split_whitespace().nth(1)
}

fn number(line: &str, column: Column) -> Option<u64> {
    let field = line.split_whitespace().nth(column as usize)?;
    field.parse().ok()
}

/// Calls that reading the counters makes.
const OF_READING: [&str; 2] = ["information", "statistics"];

/// Sums over all functions, read without a call of the inner domain's beside [`OF_READING`]: no
/// memory is taken or given back.
pub struct Totals {
    file: File,
    text: Vec<u8>,
}

impl Totals {
    /// Opens the file; nothing over a kernel without an inner domain.
    ///
    /// # Errors
    ///
    /// If it cannot be opened although it is there.
    pub fn open() -> Result<Option<Self>> {
        match File::open(STATS) {
            Ok(file) => Ok(Some(Self {
                file,
                // More than the file has; written to, so that it is in memory.
                text: vec![1; 1 << 16],
            })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Calls so far and their instructions, but for the calls that reading makes.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn read(&mut self) -> Result<[u64; 2]> {
        let mut length = 0;
        loop {
            match self.file.read_at(&mut self.text[length..], length as u64)? {
                0 => break,
                bytes => length += bytes,
            }
        }
        let text = str::from_utf8(&self.text[..length]).map_err(Error::other)?;
        let lines = text.lines().skip(1);
        let counted = lines.filter(|it| function(it).is_some_and(|it| !OF_READING.contains(&it)));
        Ok(counted.fold([0; 2], |[calls, instructions], line| {
            [
                calls + number(line, Column::Calls).unwrap_or(0),
                instructions + number(line, Column::Instructions).unwrap_or(0),
            ]
        }))
    }
}
