// SPDX-License-Identifier: MIT OR Apache-2.0
//! The folder of JSON files, and what docs/figures.json records.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use donjon_machine::paths;
use serde_json::Value;

use crate::envelope::{self, Envelope, Tree};
use crate::files;
use donjon_figures::parts::Part;

/// What is recorded.
const RECORD: &str = "docs/figures.json";

/// Where figures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A run of which an envelope tells.
    Run,
    /// A JSON file without an envelope that fits.
    Stray,
    /// docs/figures.json.
    Record,
}

/// The figures of a part.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The JSON document.
    pub value: Value,
    /// Where it comes from.
    pub origin: Origin,
    /// What is known of it; nothing of a stray file.
    pub envelope: Option<Envelope>,
}

/// Where the JSON files are: a report has them in its folder `data`.
pub fn folder_of_data(folder: &Path) -> PathBuf {
    let data = folder.join("data");
    if data.is_dir() {
        data
    } else {
        folder.to_owned()
    }
}

/// A folder of JSON files.
pub struct Store(PathBuf);

impl Store {
    /// The folder, which need not be there.
    pub fn new(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// The JSON file of a part.
    pub fn json(&self, part: Part) -> PathBuf {
        self.0.join(format!("{}.json", part.name()))
    }

    /// What was said while a part was measured.
    pub fn log(&self, part: Part) -> PathBuf {
        self.0.join(format!("{}.log", part.name()))
    }

    /// Removes what an interrupted run has left.
    pub fn clear_unfinished(&self) {
        for part in Part::ALL {
            for path in [self.json(part), self.about(part)] {
                let _ = fs::remove_file(files::unfinished(&path));
            }
        }
    }

    fn about(&self, part: Part) -> PathBuf {
        self.0.join(format!("{}.about.json", part.name()))
    }

    /// Reads a part; nothing if there is no file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is no JSON.
    pub fn load(&self, part: Part) -> Result<Option<Loaded>> {
        let path = self.json(part);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let value = serde_json::from_slice(&bytes)
            .with_context(|| format!("{}.json is no complete JSON document", part.name()))?;
        let envelope = fs::read_to_string(self.about(part)).ok();
        let envelope = envelope
            .and_then(|it| envelope::read(&it).ok())
            .filter(|it| it.fits(part, &bytes));
        let origin = match envelope {
            Some(_) => Origin::Run,
            None => Origin::Stray,
        };
        Ok(Some(Loaded {
            value,
            origin,
            envelope,
        }))
    }

    /// Keeps a JSON document and its envelope. Whoever is killed between the two leaves a
    /// document that its envelope does not fit.
    ///
    /// # Errors
    ///
    /// If nothing can be written.
    pub fn keep(&self, part: Part, json: &[u8], envelope: Option<&Envelope>) -> Result<()> {
        if let Some(envelope) = envelope {
            let text = serde_json::to_string_pretty(envelope)? + "\n";
            files::write(&self.about(part), text.as_bytes())?;
        }
        files::write(&self.json(part), json)
    }

    /// Whether a part is complete for these sources.
    pub fn is_complete(&self, part: Part, tree: &Tree) -> bool {
        let loaded = self.load(part).ok().flatten();
        let envelope = loaded.and_then(|it| it.envelope);
        envelope.is_some_and(|it| it.is_of(tree))
    }

    /// Copies a part of another folder here, with its envelope.
    ///
    /// # Errors
    ///
    /// If nothing can be read or written.
    pub fn copy(&self, from: &Self, part: Part) -> Result<()> {
        let path = from.json(part);
        let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let envelope = from.load(part)?.and_then(|it| it.envelope);
        self.keep(part, &bytes, envelope.as_ref())
    }
}

/// What docs/figures.json has of a part.
///
/// # Errors
///
/// If the file is not as `bench --record` writes it.
pub fn recorded(part: Part) -> Result<Option<Loaded>> {
    let Some(key) = part.row().recorded_as else {
        return Ok(None);
    };
    let Ok(text) = fs::read_to_string(paths::in_root(RECORD)) else {
        return Ok(None);
    };
    let mut record: Value = serde_json::from_str(&text).context(RECORD)?;
    let value = record[key].take();
    ensure!(value.is_object(), "{RECORD} has no object `{key}`");
    Ok(Some(Loaded {
        value,
        origin: Origin::Record,
        envelope: Some(Envelope::of_record(part, RECORD)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(commit: &str) -> Tree {
        Tree {
            commit: Some(commit.to_owned()),
            ..Tree::default()
        }
    }

    #[test]
    fn a_part_is_complete_for_its_own_sources() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path());
        assert!(!store.is_complete(Part::Idc, &tree("a")));
        let envelope = Envelope::of_run(Part::Idc, &tree("a"), b"{}", 1.0, 0);
        store.keep(Part::Idc, b"{}", Some(&envelope)).expect("kept");
        assert!(store.is_complete(Part::Idc, &tree("a")));
        assert!(!store.is_complete(Part::Idc, &tree("b")));
        assert!(!store.is_complete(Part::Calls, &tree("a")));
    }

    #[test]
    fn a_file_that_was_replaced_is_a_stray() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path());
        let envelope = Envelope::of_run(Part::Idc, &tree("a"), b"{}", 1.0, 0);
        store.keep(Part::Idc, b"{}", Some(&envelope)).expect("kept");
        store.keep(Part::Idc, b"[]", None).expect("replaced");
        assert!(!store.is_complete(Part::Idc, &tree("a")));
        let loaded = store.load(Part::Idc).expect("a document").expect("a file");
        assert_eq!((loaded.origin, loaded.envelope), (Origin::Stray, None));
    }

    #[test]
    fn half_a_document_is_no_document() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path());
        store.keep(Part::Idc, b"{\"a\":", None).expect("kept");
        assert!(store.load(Part::Idc).is_err());
        assert!(!store.is_complete(Part::Idc, &tree("a")));
    }

    #[test]
    fn what_an_interrupted_run_left_is_no_part_and_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path());
        let left = files::unfinished(&store.json(Part::Idc));
        fs::write(&left, b"{}").expect("written");
        assert!(store.load(Part::Idc).expect("no error").is_none());
        store.clear_unfinished();
        assert!(!left.exists());
    }

    #[test]
    fn the_record_has_three_parts() {
        let recorded: Vec<Part> = Part::ALL
            .into_iter()
            .filter(|it| recorded(*it).expect("the record").is_some())
            .collect();
        assert_eq!(recorded, [Part::Idc, Part::Lmbench, Part::Calls]);
    }
}
