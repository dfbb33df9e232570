// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a path has to be like, beside being one of the program's: a file in TOML.

mod resolve;
mod watch;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::folder::read;

pub use resolve::{Names, Watched};
pub use watch::Watch;

/// Most bytes of a policy.
const MOST: u64 = 1 << 20;

/// What is expected of a path. `docs/flow-attestation.md` explains the keys.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Policy {
    /// Functions that have to run.
    pub must_run: Vec<String>,
    /// Functions of which nothing may run.
    pub must_not_run: Vec<String>,
    /// How often functions are entered.
    pub calls: BTreeMap<String, Bounds>,
    /// Which function has to be entered before which other one.
    pub order: Vec<Order>,
    /// What the program returns.
    pub result: Expected,
    /// SHA-256 of the text.
    #[serde(skip)]
    pub digest: [u8; 32],
}

/// How often a function is entered.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bounds {
    /// At least so often.
    pub least: u64,
    /// At most so often.
    pub most: Option<u64>,
}

/// A function that has to be entered before another one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The function that comes first.
    pub first: String,
    /// The function whose entries need an entry of the other one before them.
    pub then: String,
    /// Whether each entry of `then` needs an entry of `first` of its own.
    #[serde(default)]
    pub each: bool,
}

/// What the program returns.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expected {
    /// The result word: a number, or a string of hexadecimal digits with `0x`.
    pub word: Option<Word>,
    /// The 32 bytes beside it, as hexadecimal digits.
    pub data: Option<String>,
}

/// A word of 64 bits. Integers of TOML end at 2^63 - 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Word {
    /// An integer of TOML.
    Number(u64),
    /// Hexadecimal digits behind `0x`.
    Digits(String),
}

impl Word {
    /// Returns the number.
    ///
    /// # Errors
    ///
    /// If the digits are none.
    pub fn value(&self) -> Result<u64> {
        match self {
            Self::Number(it) => Ok(*it),
            Self::Digits(it) => {
                let digits = it.strip_prefix("0x").filter(|it| !it.starts_with('+'));
                let value = digits.and_then(|it| u64::from_str_radix(it, 16).ok());
                value.context("result.word is no number: write 0x and hexadecimal digits")
            }
        }
    }
}

impl Policy {
    /// Reads a policy.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, has a key that no policy has, or contradicts itself.
    pub fn open(path: &Path) -> Result<Self> {
        let name = || path.display().to_string();
        let bytes = read(path, MOST)?;
        let text = String::from_utf8(bytes).with_context(name)?;
        Self::parse(&text).with_context(name)
    }

    /// Reads a policy's text.
    ///
    /// # Errors
    ///
    /// If it has a key that no policy has, or contradicts itself.
    pub fn parse(text: &str) -> Result<Self> {
        let mut policy: Self = toml::from_str(text)?;
        policy.digest = Sha256::digest(text).into();
        for (name, bounds) in &policy.calls {
            ensure!(
                bounds.most.is_none_or(|it| it >= bounds.least),
                "calls.{name}: most is below least"
            );
        }
        for order in &policy.order {
            ensure!(
                order.first != order.then,
                "order: {} cannot come before itself",
                order.first
            );
        }
        Ok(policy)
    }
}
