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
        let (name, start, _) = self.around(address)?;
        Some(format!("{name}+{:#x}", address - start))
    }

    /// Returns the name before an address, where that begins, and where the next one begins.
    pub fn around(&self, address: u64) -> Option<(String, u64, u64)> {
        let at = self.0.partition_point(|it| it.0 <= address);
        let (start, name) = self.0.get(at.checked_sub(1)?)?;
        let name = format!("{:#}", rustc_demangle::demangle(name));
        let end = self.0.get(at).map_or(u64::MAX, |it| it.0);
        Some((name.escape_default().to_string(), *start, end))
    }
}
