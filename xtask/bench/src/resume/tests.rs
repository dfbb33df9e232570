// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs that are interrupted, go on and end; damaged files; a disk that takes nothing; two runs.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::{Inputs, Run, told};

/// A folder, and how often something was measured in it.
struct Bench {
    folder: TempDir,
    measured: Cell<u32>,
}

impl Bench {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            measured: Cell::new(0),
        }
    }

    fn begin(&self, fresh: bool) -> Run {
        Run::begin_in(&self.folder.path().join("a"), fresh, Inputs::default()).expect("a run")
    }

    /// Measures a unit whose guest prints `text`, and reads its number.
    fn unit(&self, run: &mut Run, script: &str, text: &str) -> Result<u32> {
        self.unit_of(run, Inputs::default().with("script", script), text)
    }

    fn unit_of(&self, run: &mut Run, inputs: Inputs, text: &str) -> Result<u32> {
        let measure = || {
            self.measured.set(self.measured.get() + 1);
            Ok(text.to_owned())
        };
        run.unit("asid", inputs, measure, |text| {
            text.parse().context("no number")
        })
    }

    /// Partial results.
    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path().join("a")).expect("a folder");
        let paths = entries.map(|it| it.expect("an entry").path());
        let is_result = |it: &PathBuf| {
            let name = it.to_string_lossy();
            name.ends_with(".json") && !name.ends_with(".about.json")
        };
        paths.filter(is_result).collect()
    }
}

#[test]
fn the_next_run_takes_what_an_interrupted_one_has() {
    let bench = Bench::new();
    let mut first = bench.begin(false);
    assert_eq!(bench.unit(&mut first, "s", "7").expect("a number"), 7);
    drop(first);
    let mut second = bench.begin(false);
    // The guest would say something else by now.
    assert_eq!(bench.unit(&mut second, "s", "8").expect("a number"), 7);
    assert_eq!(bench.unit(&mut second, "other", "9").expect("a number"), 9);
    assert_eq!(bench.measured.get(), 2);
    // It has told of the first unit before it measured the second.
    assert!(second.taken.is_empty());
}

#[test]
fn times_are_measured_again() {
    let bench = Bench::new();
    let inputs = || Inputs::default().timed(true);
    for text in ["7", "8"] {
        let mut run = bench.begin(false);
        let number = bench.unit_of(&mut run, inputs(), text).expect("a number");
        assert_eq!(number.to_string(), text);
        assert!(bench.files().is_empty());
    }
}

#[test]
fn one_line_says_what_comes_from_which_run() {
    let taken = [("native", "14:03"), ("asid", "14:03"), ("tlbi", "14:40")];
    let taken = taken.map(|(unit, run)| (unit.to_owned(), run.to_owned()));
    let line = "native, asid: from the run of 14:03 UTC, interrupted; \
                tlbi: from the run of 14:40 UTC, interrupted";
    assert_eq!(told(&taken), line);
}

#[test]
fn a_run_after_the_end_measures_everything() {
    let bench = Bench::new();
    for expected in [7, 8] {
        let mut run = bench.begin(false);
        let text = expected.to_string();
        let number = bench.unit(&mut run, "s", &text).expect("a number");
        assert_eq!(number, expected);
        assert_eq!(bench.files().len(), 1);
        run.end().expect("removed");
        assert!(bench.files().is_empty());
    }
}

#[test]
fn the_end_leaves_what_another_selection_has() {
    let bench = Bench::new();
    bench.unit(&mut bench.begin(false), "all", "7").expect("it");
    let mut some = bench.begin(false);
    bench.unit(&mut some, "some", "8").expect("it");
    some.end().expect("removed");
    assert_eq!(bench.files().len(), 1);
}

#[test]
fn a_fresh_run_removes_what_there_is() {
    let bench = Bench::new();
    bench.unit(&mut bench.begin(false), "s", "7").expect("it");
    let mut fresh = bench.begin(true);
    assert!(bench.files().is_empty());
    assert_eq!(bench.unit(&mut fresh, "s", "8").expect("a number"), 8);
}

#[test]
fn what_failed_is_not_kept() {
    let bench = Bench::new();
    let mut run = bench.begin(false);
    assert!(bench.unit(&mut run, "s", "no number").is_err());
    let inputs = Inputs::default();
    let failed: Result<()> = run.unit("asid", inputs, || bail!("hung"), |_| Ok(()));
    assert!(failed.is_err());
    assert!(bench.files().is_empty());
    bench.unit(&mut run, "s", "7").expect("a number");
    run.forget().expect("removed");
    assert!(bench.files().is_empty());
}

#[test]
fn the_key_changes_with_emulator_and_program() {
    let bench = Bench::new();
    let folder = bench.folder.path().join("a");
    for (emulator, expected) in [("QEMU 7.2", 7), ("QEMU 9.0", 8), ("QEMU 7.2", 7)] {
        let host = Inputs::default().with("emulator", emulator);
        let mut run = Run::begin_in(&folder, false, host).expect("a run");
        let text = expected.to_string();
        let number = bench.unit(&mut run, "s", &text).expect("a number");
        assert_eq!(number, expected);
    }
    assert_eq!(bench.measured.get(), 2);
}

#[test]
fn a_damaged_file_is_ignored_and_replaced() {
    type Damage = fn(&str) -> String;
    let damages: [(&str, Damage); 5] = [
        ("json", |it| it[..it.len() / 2].to_owned()),
        ("json", |it| {
            it.replace("\"text\": \"7\"", "\"text\": \"6\"")
        }),
        ("json", |it| it.replace("\"run\": \"", "\"run\": \"0")),
        ("about.json", |it| it.replace("\"key\": \"", "\"key\": \"0")),
        ("json", |_| String::new()),
    ];
    for (of, damage) in damages {
        let bench = Bench::new();
        bench.unit(&mut bench.begin(false), "s", "7").expect("it");
        let file = bench.files().remove(0).with_extension(of);
        let whole = fs::read_to_string(&file).expect("text");
        let damaged = damage(&whole);
        assert_ne!(whole, damaged);
        fs::write(&file, damaged).expect("written");
        let mut run = bench.begin(false);
        assert_eq!(bench.unit(&mut run, "s", "8").expect("a number"), 8);
        drop(run);
        let mut next = bench.begin(false);
        assert_eq!(bench.unit(&mut next, "s", "9").expect("a number"), 8);
    }
}

#[test]
fn a_result_is_there_though_it_cannot_be_kept() {
    let bench = Bench::new();
    let mut run = bench.begin(false);
    bench.unit(&mut run, "kept", "6").expect("a number");
    bench.unit(&mut run, "s", "7").expect("a number");
    let file = bench.files().into_iter().find(|it| {
        let text = fs::read_to_string(it).expect("text");
        text.contains("\"text\": \"7\"")
    });
    let file = file.expect("the file of the second unit");
    fs::remove_file(&file).expect("removed");
    // A folder stands where the file has to be. The system refuses the file, as on a full disk.
    fs::create_dir(&file).expect("a folder");
    fs::write(file.join("x"), "").expect("a file");
    assert_eq!(bench.unit(&mut run, "s", "8").expect("a number"), 8);
    assert_eq!(bench.unit(&mut run, "kept", "9").expect("a number"), 6);
}

#[test]
fn two_runs_at_a_time_take_nothing_from_each_other() {
    let bench = Bench::new();
    let mut first = bench.begin(false);
    bench.unit(&mut first, "s", "7").expect("a number");
    let mut second = bench.begin(false);
    assert_eq!(bench.unit(&mut second, "s", "8").expect("a number"), 8);
    second.end().expect("nothing to remove");
    assert_eq!(bench.files().len(), 1);
}
