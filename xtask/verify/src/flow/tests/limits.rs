// SPDX-License-Identifier: MIT OR Apache-2.0
use std::fs::{self, File};
use std::time::Instant;

use donjon_flow_check::Fault;

use super::*;
use crate::flow::folder::{Folder, SEGMENTS_MAX};
use crate::flow::log::Log;
use crate::flow::transcript::Transcript;
use crate::flow::walk::{Bounds, walk};

/// Returns why a run cannot be read.
fn unreadable(kept: &Kept) -> String {
    format!("{:#}", kept.asked().expect_err("it cannot be read"))
}

#[test]
fn what_is_missing_or_no_file_is_an_error_and_no_verdict() {
    for name in ["token", "transcript", "log", "../program"] {
        let kept = finished();
        kept.write(&kept.token());
        let path = kept.folder().join(name);
        fs::remove_file(&path).expect("it was there");
        assert!(unreadable(&kept).contains("opening"));
        fs::create_dir(&path).expect("a folder");
        assert!(unreadable(&kept).contains("no ordinary file"));
        fs::remove_dir(&path).expect("it was there");
        std::os::unix::fs::symlink("/dev/zero", &path).expect("a link");
        assert!(unreadable(&kept).contains("no ordinary file"));
    }
}

#[test]
fn foreign_files_are_an_error_or_rejected() {
    for bytes in [&b""[..], b"\x7fELF", &[0; 127], &[0xff; 4000]] {
        for name in ["token", "../program"] {
            let kept = finished();
            kept.write(&kept.token());
            fs::write(kept.folder().join(name), bytes).expect("written");
            unreadable(&kept);
        }
        let mut kept = finished();
        kept.transcript = bytes.to_vec();
        kept.reported().rejected("the transcript is wrong");
        let mut kept = finished();
        kept.log = bytes.to_vec();
        kept.rejected("the log has");
    }
}

#[test]
fn huge_files_are_refused_at_once() {
    let sizes = [
        ("token", 1 << 40, None),
        ("transcript", 1 << 42, None),
        ("transcript", 128 * (SEGMENTS_MAX + 3), None),
        ("../program", 1 << 40, None),
        ("log", 1 << 42, Some("the log has 4398046511104 bytes")),
    ];
    for (name, size, rejected) in sizes {
        let kept = finished();
        kept.write(&kept.token());
        let file = File::create(kept.folder().join(name)).expect("made");
        file.set_len(size).expect("a sparse file");
        let begun = Instant::now();
        match rejected {
            None => assert!(unreadable(&kept).contains("are the most")),
            Some(words) => {
                let report = kept.asked().expect("it can be read");
                assert_eq!(report.status(), 1);
                assert!(report.to_string().contains(words), "{report}");
            }
        }
        assert!(begun.elapsed().as_secs() < 5, "{name}");
    }
}

#[test]
fn a_segment_has_no_more_words_than_a_log_has_room_for() {
    for words in [(1 << 20) + 1, 1 << 40, u64::MAX] {
        let mut run = run(&program(), 9, Round::Leave, 50);
        run.segments[0].words = words;
        Kept::new(&run).rejected("1048576 are the most");
    }
    let mut run = run(&program(), 9, Round::Leave, 50);
    run.segments[0].words = 1 << 20;
    Kept::new(&run).rejected("1048576 words of 8 bytes");
}

#[test]
fn a_path_that_is_too_long_is_neither_right_nor_wrong() {
    let mut kept = finished();
    kept.max_blocks = 100;
    kept.write(&kept.token());
    assert!(unreadable(&kept).contains("--max-blocks"));
    kept.max_blocks = 10_000;
    assert_eq!(kept.asked().expect("it can be read").status(), 0);
}

#[test]
fn an_unproven_path_is_walked_only_a_little() {
    let mut run = run(&program(), 100, Round::Leave, 7);
    run.segments[3].last[0] ^= 1;
    let mut kept = Kept::new(&run);
    kept.max_blocks = 100;
    let report = kept.rejected("segment 3: the tag does not fit");
    assert!(
        report.unproven[0].contains("more than 100 blocks"),
        "{report}"
    );
}

#[test]
fn more_calls_than_the_stack_has_room_for_are_no_path() {
    let kept = finished();
    kept.write(&kept.token());
    let folder = Folder::open(&kept.folder()).expect("it is there");
    let transcript = Transcript::parse(&folder.transcript).expect("well formed");
    let input = donjon_flow_check::read(&kept.program).expect("sound");
    let program = donjon_flow_check::Program::check(input).expect("lawful");
    for (frames, is_path) in [(0, false), (1, true)] {
        let mut log = Log::new(&folder.log, &transcript);
        let bounds = Bounds {
            blocks: 1 << 20,
            frames,
        };
        let walked = walk(&program, &mut log, bounds, &mut None, None).expect("it can be read");
        match walked {
            Ok(_) => assert!(is_path),
            Err(failure) => assert!(!is_path && failure.fault == Fault::Deep),
        }
    }
}
