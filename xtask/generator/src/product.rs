// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that the text of the product does not say how a test build is weakened: an auditor of the
//! inner domain reads checks, and what is done in place of one stands in files of their own.

use std::fs;

use donjon_machine::paths;

use crate::sources;

/// The crates of the inner domain.
const CRATES: [&str; 3] = ["core", "hal", "image"];
/// The file `checks.rs` and those of its folder: the table of checks, and the word.
const TABLE: &str = "checks";
/// Name of the files with what a test build does in place of a check.
const BESIDE: &str = "without.rs";
/// The file whose lines have the name of a field in signed reports, which callers read.
const REPORT: &str = "requests/attestation.rs";

/// Returns the lines of a file that say it.
fn lines<'a>(name: &str, text: &'a str) -> Vec<&'a str> {
    let path: Vec<&str> = name.split('/').collect();
    let in_table = path
        .first()
        .is_some_and(|it| it.strip_suffix(".rs").unwrap_or(it) == TABLE);
    if in_table || path.last() == Some(&BESIDE) {
        return Vec::new();
    }
    let has_word = |it: &&str| it.to_lowercase().contains("weaken");
    let is_field = |it: &str| name == REPORT && it.trim_start().starts_with("weakened: ");
    let of_abi = |it: &str| it.contains("Information::Weakened");
    let said = text.lines().filter(has_word);
    said.filter(|it| !is_field(it) && !of_abi(it)).collect()
}

/// Whether a file is empty in a product build.
fn is_of_test_builds(text: &str) -> bool {
    text.contains("#![cfg(feature = \"checks-by-word\")]")
}

#[test]
fn the_text_of_the_product_has_no_sabotage() {
    let mut found = Vec::new();
    for name in CRATES {
        let root = paths::in_root("inner-domain").join(name).join("src");
        for (file, text) in sources::files(&root) {
            for line in lines(&file, &text) {
                // The gate's macros for test builds, which stand before it.
                if !line.contains("gate_weakened.S") {
                    found.push(format!("{name}/src/{file}: {}", line.trim()));
                }
            }
        }
    }
    for assembly in ["gate.S", "context.S"] {
        let path = paths::in_root("inner-domain/image/src").join(assembly);
        let text = fs::read_to_string(path).expect("assembly");
        found.extend(
            lines(assembly, &text)
                .iter()
                .map(|it| format!("{assembly}: {it}")),
        );
    }
    assert!(
        found.is_empty(),
        "move it to a file `{BESIDE}` beside its module:\n{}",
        found.join("\n")
    );
}

#[test]
fn what_stands_in_for_a_check_is_not_in_a_product() {
    let mut count = 0;
    for name in CRATES {
        let root = paths::in_root("inner-domain").join(name).join("src");
        for (file, text) in sources::files(&root) {
            // The models leave this check out as well, without a feature.
            if file.ends_with(BESIDE) && file != "user_tables/fill/without.rs" {
                assert!(
                    is_of_test_builds(&text),
                    "{name}/src/{file} is in each build"
                );
                count += 1;
            }
        }
    }
    assert!(count > 0, "no file `{BESIDE}` was found");
}

#[test]
fn a_line_that_says_it_is_found() {
    assert_eq!(lines("calls/a.rs", "x\nif weaken::SEAL {\n").len(), 1);
    assert_eq!(lines("checks.rs", "weaken").len(), 0);
    assert_eq!(lines("checks/weakened.rs", "weaken").len(), 0);
    assert_eq!(lines("calls/a/without.rs", "weaken").len(), 0);
    assert_eq!(lines("checksum.rs", "weaken").len(), 1);
    assert_eq!(lines(REPORT, "    weakened: boot.left_out,").len(), 0);
    assert_eq!(lines("calls/a.rs", "    weakened: 1,").len(), 1);
}
