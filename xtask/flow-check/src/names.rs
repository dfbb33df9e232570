// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of functions, and lines. They are for people: no rule looks at them.

use crate::lines::Lines;

/// Names, by the address at which each begins, and lines.
#[derive(Clone, Debug, Default)]
pub struct Names {
    functions: Vec<(u64, String)>,
    lines: Lines,
}

/// A function, as far as names tell: it ends where the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The function's name. Control characters are written as escapes.
    pub name: String,
    /// Address where it begins.
    pub start: u64,
    /// Address where the next function begins.
    pub end: u64,
}

impl Names {
    /// Makes names of addresses and what stands there.
    pub fn new(mut functions: Vec<(u64, String)>, lines: Lines) -> Self {
        functions.sort();
        functions.dedup();
        Self { functions, lines }
    }

    /// Returns the name before an address, and the distance from it.
    pub fn of(&self, address: u64) -> Option<String> {
        let it = self.around(address)?;
        Some(format!("{}+{:#x}", it.name, address - it.start))
    }

    /// Returns file and line of an address.
    pub fn line(&self, address: u64) -> Option<String> {
        self.lines.of(address)
    }

    /// Returns name, distance, file and line of an address, as far as they are known.
    pub fn located(&self, address: u64) -> Option<String> {
        match (self.of(address), self.line(address)) {
            (Some(name), Some(line)) => Some(format!("{name}, {line}")),
            (name, line) => name.or(line),
        }
    }

    /// Returns the function around an address. Of several names for one place it is the first.
    pub fn around(&self, address: u64) -> Option<Function> {
        let behind = self.functions.partition_point(|it| it.0 <= address);
        let start = self.functions.get(behind.checked_sub(1)?)?.0;
        let first = self.functions.partition_point(|it| it.0 < start);
        let name = &self.functions.get(first)?.1;
        let name = format!("{:#}", rustc_demangle::demangle(name));
        Some(Function {
            name: name.escape_default().to_string(),
            start,
            end: self.functions.get(behind).map_or(u64::MAX, |it| it.0),
        })
    }

    /// Lists all names as they stand in the file, with their addresses, in the addresses' order.
    pub fn all(&self) -> &[(u64, String)] {
        &self.functions
    }

    /// Says whether there is a line for any address.
    pub fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }
}
