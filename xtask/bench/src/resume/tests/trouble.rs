// SPDX-License-Identifier: MIT OR Apache-2.0
//! Damaged files, a disk that takes nothing, two runs at a time.

use std::fs;

use super::Bench;

#[test]
fn a_damaged_file_is_ignored_and_replaced() {
    let damages: [fn(&str) -> String; 4] = [
        |it| it[..it.len() / 2].to_owned(),
        |it| it.replace("\"text\": \"7\"", "\"text\": \"6\""),
        |it| it.replace("\"key\": \"", "\"key\": \"0"),
        |_| String::new(),
    ];
    for damage in damages {
        let bench = Bench::new();
        bench.unit(&mut bench.begin(false), "s", "7").expect("it");
        let file = bench.files().remove(0);
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

#[test]
fn what_was_not_completed_is_removed() {
    let bench = Bench::new();
    drop(bench.begin(false));
    let left = bench.folder.path().join("a/asid.json.unfinished");
    fs::write(&left, "{").expect("written");
    drop(bench.begin(false));
    assert!(!left.exists());
}
