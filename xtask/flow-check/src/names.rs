// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of functions. They are for people: no rule looks at them.

/// Names, by the address at which each begins.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<(u64, String)>);

impl Names {
    /// Makes names of addresses and what stands there.
    pub fn new(mut names: Vec<(u64, String)>) -> Self {
        names.sort();
        names.dedup_by_key(|it| it.0);
        Self(names)
    }

    /// Returns the name before an address, and the distance from it. Control characters in a name
    /// are written as escapes.
    pub fn of(&self, address: u64) -> Option<String> {
        let at = self.0.partition_point(|it| it.0 <= address);
        let (start, name) = self.0.get(at.checked_sub(1)?)?;
        let name = format!("{:#}", rustc_demangle::demangle(name));
        Some(format!("{}+{:#x}", name.escape_default(), address - start))
    }
}
