// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the cases that the fuzzer found, without the fuzzer.

use std::fs;
use std::path::{Path, PathBuf};

use donjon_models::cases::World;

/// The files of a directory below tests/fuzz.
fn files(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz")
        .join(directory);
    let entries = fs::read_dir(&directory).expect("kept cases");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "nothing in {}", directory.display());
    files
}

/// Nothing is wrong after any call of the cases that are kept.
#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn kept_cases_break_nothing() {
    for world in World::ALL {
        for file in files(&format!("cases/{}", world.name())) {
            let case = fs::read(&file).expect("a case");
            let judged = world.judge(&case, None);
            assert!(judged.is_ok(), "{}: {judged:?}", file.display());
        }
    }
}

/// Each check that is left out is missed by a case that is named after it.
#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn cases_against_weakened_checks_break_them_alone() {
    for world in World::ALL {
        for file in files(&format!("weakened/{}", world.name())) {
            let case = fs::read(&file).expect("a case");
            let check = file.file_name().and_then(|it| it.to_str());
            let judged = world.judge(&case, None);
            assert!(judged.is_ok(), "{}: {judged:?}", file.display());
            assert!(world.judge(&case, check).is_err(), "{}", file.display());
        }
    }
}
