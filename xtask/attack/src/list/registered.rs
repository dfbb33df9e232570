// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows and what the guest's module registers are the same.

use std::collections::BTreeSet;
use std::fs;

use donjon_builder::kernel::walk;
use donjon_machine::paths;

use super::all;

/// The hostile module.
const MODULE: &str = "kernel-patch/files/arch/arm64/donjon/attack";
/// What is carried out elsewhere: no attacks but loads, attempts that need a device tree of their
/// own (`machine:`), and searches (`bench compartments`).
const OF_TESTS: [(&str, &str); 35] = [
    ("ask-videocore", "mailbox"),
    ("ask-videocore", "short-tag"),
    ("ask-videocore", "tag"),
    ("fuzz", "calls"),
    ("longest", "change-pages"),
    ("longest", "distant-pages"),
    ("longest", "flow"),
    ("longest", "drop-tables"),
    ("longest", "protect-tables"),
    ("longest", "give-blocks-while-sealing"),
    ("longest", "give-mapped-blocks"),
    ("longest", "poke"),
    ("longest", "poke-live"),
    ("longest", "read-all"),
    ("longest", "requests"),
    ("longest", "rewrite-block"),
    ("longest", "seal"),
    ("longest", "wait"),
    ("map-protected-memory", "device"),
    ("map-protected-memory", "release-address"),
    ("map-protected-memory", "reserved"),
    ("reach-debug-port", "select"),
    ("reclaim", "transaction"),
    ("scrape-memory", "device"),
    ("scrape-memory", "linear"),
    ("scrape-memory", "link"),
    ("scrape-memory", "map"),
    ("scrape-memory", "store"),
    ("scrape-memory", "table"),
    ("scrape-memory", "user"),
    ("start-cpu-by-firmware", "by-number"),
    ("use-stale-entry", "frame"),
    ("use-stale-entry", "inner"),
    ("use-stale-entry", "private"),
    ("write-register", "device"),
];

type Names = BTreeSet<(String, String)>;

/// Attack and attempt of each line `DONJON_ATTACK("ATTACK", "ATTEMPT", function);`.
fn registered(text: &str, names: &mut Names) {
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("DONJON_ATTACK(\"") else {
            continue;
        };
        let mut parts = rest.split('"');
        let (Some(attack), Some(", "), Some(attempt)) = (parts.next(), parts.next(), parts.next())
        else {
            panic!("not readable: {line}");
        };
        let new = names.insert((attack.to_owned(), attempt.to_owned()));
        assert!(new, "registered twice: {attack}/{attempt}");
    }
}

#[test]
fn each_attempt_is_registered_and_each_registration_is_an_attempt() {
    let mut names = Names::new();
    for path in walk::files(&paths::in_root(MODULE)).expect("the module") {
        if path.extension().is_some_and(|it| it == "c") {
            registered(&fs::read_to_string(path).expect("text"), &mut names);
        }
    }
    let owned = |(attack, attempt): (&str, &str)| (attack.to_owned(), attempt.to_owned());
    let rows = all().filter(|it| it.is_of_module()).flat_map(|attack| {
        let attempts = attack.attempts.iter();
        attempts.map(|attempt| (attack.name, attempt.name))
    });
    let expected: Names = rows.chain(OF_TESTS).map(owned).collect();
    let missing: Vec<_> = expected.difference(&names).collect();
    let unknown: Vec<_> = names.difference(&expected).collect();
    assert!(missing.is_empty(), "rows without a function: {missing:?}");
    assert!(unknown.is_empty(), "functions without a row: {unknown:?}");
}

#[test]
fn names_are_unique_words_and_fit_the_module() {
    let mut names = BTreeSet::new();
    for attack in all() {
        for name in [Some(attack.name), attack.alias].into_iter().flatten() {
            assert!(names.insert(name.to_ascii_lowercase()), "twice: {name}");
        }
        let attempts = attack.attempts.iter().map(|it| it.name);
        for name in attempts.chain([attack.name]) {
            let is_kebab = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
            assert!(name.chars().all(is_kebab), "not kebab-case: {name}");
            // The module's parameter takes 63 characters, ATTACK/ATTEMPT and a line feed.
            assert!(name.len() <= 30, "too long: {name}");
        }
    }
}

#[test]
fn each_row_says_what_stops_it_and_its_controls_name_its_attempts() {
    for attack in all() {
        assert!(!attack.title.is_empty() && !attack.stopped_by.is_empty());
        assert!(!attack.modes.is_empty(), "{} in no mode", attack.name);
        let is_fatal = attack.attempts.iter().filter(|it| it.is_fatal()).count();
        assert!(
            is_fatal == 0 || is_fatal == attack.attempts.len(),
            "{}: its attempts either all leave the machine alive or none does",
            attack.name
        );
        for control in attack.controls {
            assert!(!control.attempts.is_empty());
            for name in control.attempts {
                let found = attack.attempts.iter().any(|it| it.name == *name);
                assert!(found, "{} has no attempt {name}", attack.name);
            }
        }
    }
}
