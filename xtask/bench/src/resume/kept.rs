// SPDX-License-Identifier: MIT OR Apache-2.0
//! A partial result in a file.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use donjon_builder::whole;
use serde::{Deserialize, Serialize};

use super::inputs::Inputs;

/// What the guest of one unit printed.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Kept {
    /// What was measured.
    pub unit: String,
    /// When the run began that measured it, UTC.
    pub run: String,
    /// The digest of what it depends on.
    pub key: String,
    /// What the guest printed.
    pub text: String,
    /// A digest of the rest, which shows damage.
    digest: String,
}

impl Kept {
    /// What the guest of `unit` printed in the run that began at `run`.
    pub fn new(unit: &str, run: &str, key: &str, text: &str) -> Self {
        let mut kept = Self {
            unit: unit.to_owned(),
            run: run.to_owned(),
            key: key.to_owned(),
            text: text.to_owned(),
            digest: String::new(),
        };
        kept.digest = kept.of_the_rest();
        kept
    }

    fn of_the_rest(&self) -> String {
        Inputs::default()
            .with("unit", &self.unit)
            .with("run", &self.run)
            .with("key", &self.key)
            .with("text", &self.text)
            .key()
    }

    /// What a file has; nothing if there is none.
    ///
    /// # Errors
    ///
    /// If it is damaged, or its content depends on something else than `key` says.
    pub fn load(path: &Path, key: &str) -> Result<Option<Self>> {
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        let kept: Self = serde_json::from_slice(&bytes)?;
        ensure!(
            kept.digest == kept.of_the_rest(),
            "its digest does not fit its content"
        );
        ensure!(kept.key == key, "its name does not fit its content");
        Ok(Some(kept))
    }

    /// Writes the sample as a whole or not at all.
    ///
    /// # Errors
    ///
    /// If it cannot be written; the message says what to do.
    pub fn save(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        let saved = whole::write(path, text.as_bytes());
        saved.map_err(|error| {
            let advice = match error.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                    "the disk is full: free some space"
                }
                _ => "see whether it may be written to",
            };
            anyhow!("cannot write {}: {error}; {advice}", path.display())
        })
    }
}
