// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions that a policy names, in a program.
//!
//! A compiler may put a function's code into others, split it or fold two into one. Then a rule
//! about the function would see a part of it alone, so such a name is an error and not a rule that
//! always holds.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use donjon_flow_check::{Program, inlined};

/// A function that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The name in the policy.
    pub name: String,
    /// Address where it begins.
    pub start: u64,
    /// Address behind it.
    pub end: u64,
}

/// The functions of a program, by their names in its file.
pub struct Names<'a> {
    program: &'a Program,
    /// Functions whose code is also within others, each with a place of it.
    inlined: BTreeMap<String, u64>,
}

impl<'a> Names<'a> {
    /// Prepares the names of a program that was read from a file with these bytes.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn new(program: &'a Program, bytes: &[u8]) -> Result<Self> {
        Ok(Self {
            program,
            inlined: inlined(bytes)?,
        })
    }

    /// Finds the function with a name.
    ///
    /// # Errors
    ///
    /// If there is none, or its code is not all at one place that is the function's alone.
    pub fn find(&self, name: &str) -> Result<Watched> {
        let shown = name.escape_default();
        let all = self.program.names().all();
        let mut places = all.iter().filter(|it| it.1 == name).map(|it| it.0);
        if let Some(&place) = self.inlined.get(name) {
            let within = self.program.names().located(place).unwrap_or_default();
            bail!(
                "the code of {shown} is also within another function, at {place:#x} ({within}); \
                 declare it with __attribute__((noipa)) to have a policy about it"
            );
        }
        let start = places
            .next()
            .with_context(|| format!("the program has no function {shown}"))?;
        ensure!(
            places.next().is_none(),
            "the program has several functions {shown}; give them different names"
        );
        let is_part = |it: &&(u64, String)| {
            let rest = it.1.strip_prefix(name);
            rest.is_some_and(|it| it.starts_with('.'))
        };
        let same = |it: &&(u64, String)| it.0 == start && it.1 != name;
        if let Some((_, part)) = all.iter().find(|it| is_part(it) || same(it)) {
            bail!(
                "{shown} and {} are parts of one function, or have one code; declare {shown} with \
                 __attribute__((noipa)) to have a policy about it",
                part.escape_default()
            );
        }
        Ok(Watched {
            name: shown.to_string(),
            start,
            end: self.program.function(start).end,
        })
    }
}
