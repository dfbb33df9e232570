// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

#[test]
fn a_run_that_ended_by_itself_is_accepted() {
    let report = finished().judged().expect("it can be read");
    assert_eq!(report.status(), 0, "{report}");
    let said = report.to_string();
    // 100 calls of `check` and of `open`, and one of `work`.
    for words in [
        "201 calls and at most 2 within each other",
        "with the result 0x1234 and the bytes 0707",
        "arguments    0x5 0x6 0x7 0x8",
        "kind         1: a run under flow attestation",
        "that it was the only run",
        "accepted",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn the_size_of_segments_makes_no_difference() {
    let mut lengths = Vec::new();
    for room in [1, 2, 3, 31, 32, 33, 64, 1000] {
        let kept = Kept::new(&run(&program(), 100, Round::Leave, room));
        let report = kept.judged().expect("it can be read");
        assert_eq!(report.status(), 0, "{room}: {report}");
        lengths.push(report.proven[report.proven.len() - 2].clone());
    }
    lengths.dedup();
    assert_eq!(lengths.len(), 1, "{lengths:?}");
}

#[test]
fn names_are_those_of_the_named_program_and_printed_with_escapes() {
    let mut kept = finished();
    let names = ["_start", "\x1b]0;title", "check", "open", "never"];
    kept.program = kept::file(&program(), names);
    kept.policy = Some("must-not-run = [\"\\u001b]0;title\"]".into());
    let report = kept.rejected("\\u{1b}]0;title has run");
    assert!(!report.to_string().contains('\x1b'), "{report}");
}

/// Names are in no measurement, so files with exchanged names are one program for it.
#[test]
fn a_program_in_the_folder_is_not_looked_at() {
    let mut kept = finished();
    let exchanged = ["_start", "work", "never", "open", "check"];
    kept.policy = Some("must-run = [\"check\"]\nmust-not-run = [\"never\"]".into());
    kept.write(&kept.token());
    let other = kept::file(&program(), exchanged);
    for name in ["program", "program.elf", "elf"] {
        std::fs::write(kept.folder().join(name), &other).expect("written");
    }
    assert_eq!(kept.asked().expect("it can be read").status(), 0);
    // The control: with those names the policy says the contrary, and all else fits.
    kept.program = other;
    kept.rejected("check has not run");
    kept.policy = None;
    assert_eq!(kept.judged().expect("it can be read").status(), 0);
}
