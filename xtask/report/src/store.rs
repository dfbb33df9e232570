// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts in a folder of JSON files, and what docs/figures.json records.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use donjon_figures::store::Store;
use donjon_machine::paths;
use serde_json::Value;

use crate::envelope::{Envelope, Tree};
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

/// Finds the JSON files: a report has them in its folder `data`.
pub fn folder_of_data(folder: &Path) -> PathBuf {
    let data = folder.join("data");
    if data.is_dir() {
        data
    } else {
        folder.to_owned()
    }
}

/// Reads a part; nothing if there is no file.
///
/// # Errors
///
/// If the file cannot be read, or is no JSON.
pub fn load(store: &Store, part: Part) -> Result<Option<Loaded>> {
    let Some((json, envelope)) = store.load::<Envelope>(part.name())? else {
        return Ok(None);
    };
    let value = serde_json::from_slice(&json)
        .with_context(|| format!("{}.json is no complete JSON document", part.name()))?;
    let envelope = envelope.filter(|it| it.part == part.name());
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

/// Says whether a part is complete for these sources.
pub fn is_complete(store: &Store, part: Part, tree: &Tree) -> bool {
    let loaded = load(store, part).ok().flatten();
    let envelope = loaded.and_then(|it| it.envelope);
    envelope.is_some_and(|it| it.is_of(tree))
}

/// Reads what docs/figures.json has of a part.
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
    fn a_part_is_complete_for_its_own_sources_and_its_own_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path());
        let (name, here) = (Part::Idc.name(), tree("a"));
        assert!(!is_complete(&store, Part::Idc, &here));
        let envelope = Envelope::of_run(Part::Idc, &here, 1.0, 0);
        store.keep(name, b"{}", Some(&envelope)).expect("kept");
        assert!(is_complete(&store, Part::Idc, &here));
        assert!(!is_complete(&store, Part::Idc, &tree("b")));
        let calls = Part::Calls.name();
        store.keep(calls, b"{}", Some(&envelope)).expect("kept");
        assert!(!is_complete(&store, Part::Calls, &here));
        let none = None::<&Envelope>;
        store.keep(name, b"[]", none).expect("replaced");
        assert!(!is_complete(&store, Part::Idc, &here));
        let loaded = load(&store, Part::Idc).expect("JSON").expect("a file");
        assert_eq!((loaded.origin, loaded.envelope), (Origin::Stray, None));
        store.keep(name, b"{\"a\":", none).expect("kept");
        assert!(load(&store, Part::Idc).is_err());
    }

    #[test]
    fn files_of_earlier_versions_are_of_a_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let about = r#"{"part": "idc", "tree": {"commit": "a", "changes": null}, "date": "d",
            "machine": "virt", "qemu": "7.2", "host_cpu": "c", "command": "cargo xtask",
            "seconds": 61.0, "status": 0, "sha256":
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}"#;
        for (name, text) in [("idc.json", "{}"), ("idc.about.json", about)] {
            fs::write(folder.path().join(name), text).expect("written");
        }
        let store = Store::new(folder.path());
        assert!(is_complete(&store, Part::Idc, &tree("a")));
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
