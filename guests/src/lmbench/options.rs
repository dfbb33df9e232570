// SPDX-License-Identifier: MIT OR Apache-2.0
//! LMBench's options, and the variable that says how long a measurement takes.

use anyhow::{Context, Result, bail, ensure};

use crate::timing::Plan;

/// What the command line says.
pub struct Options {
    /// How long and how often.
    pub plan: Plan,
    /// What is no option.
    pub words: Vec<String>,
}

impl Options {
    /// Reads options up to the first word that is none. `-W` and `-P 1` are LMBench's defaults
    /// and do nothing here; `-s 0` is the only size.
    pub fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut plan = Plan::from_environment()?;
        let mut words = Vec::new();
        while let Some(word) = arguments.next() {
            if !word.starts_with('-') {
                words.push(word);
                words.extend(arguments);
                break;
            }
            let value: usize = arguments
                .next()
                .and_then(|it| it.parse().ok())
                .with_context(|| format!("{word} wants a number"))?;
            match (word.as_str(), value) {
                ("-N", 1..) => plan.samples = value,
                ("-W" | "-s", 0) | ("-P", 1) => (),
                _ => bail!("{word} {value} is not possible here"),
            }
        }
        ensure!(plan.samples > 0, "-N wants 1 or more");
        Ok(Self { plan, words })
    }
}
