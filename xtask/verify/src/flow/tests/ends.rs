// SPDX-License-Identifier: MIT OR Apache-2.0
use donjon_abi::flow::EndReason;

use super::*;

#[test]
fn runs_that_did_not_end_by_themselves_are_right_with_another_status() {
    for (last, words) in [
        (Round::GiveUp, "the program gave up, at"),
        (Round::Fault, "ESR_EL1 0x92000047"),
        (Round::Cut, "the host ended it"),
    ] {
        for rounds in [0, 1, 30, 31, 100] {
            let kept = Kept::new(&run(&program(), rounds, last, 5));
            let report = kept.judged().expect("it can be read");
            assert_eq!(report.status(), 3, "{last:?} {rounds}: {report}");
            let said = report.to_string();
            assert!(said.contains(words), "{said}");
            assert!(said.contains("nothing that the program wrote"), "{said}");
        }
    }
}

#[test]
fn a_run_that_was_cut_before_its_first_segment_has_no_path() {
    let mut cut = run(&program(), 3, Round::Cut, 5);
    cut.segments.clear();
    cut.words.clear();
    cut.end.segments = 0;
    let report = Kept::new(&cut).judged().expect("it can be read");
    assert_eq!(report.status(), 3, "{report}");
    assert!(report.to_string().contains("no step of a path"), "{report}");
    for reason in [EndReason::Finished, EndReason::Exited, EndReason::Faulted] {
        cut.end.reason = reason as u64;
        Kept::new(&cut).rejected("there is no segment");
    }
}

#[test]
fn an_end_that_the_path_does_not_have_is_rejected() {
    let all = [
        (Round::Leave, EndReason::Finished),
        (Round::GiveUp, EndReason::Exited),
        (Round::Fault, EndReason::Faulted),
        (Round::Cut, EndReason::Cut),
    ];
    for (last, own) in all {
        let right = run(&program(), 9, last, 5);
        for &reason in EndReason::ALL {
            let mut run = right.clone();
            run.end.reason = reason as u64;
            let report = Kept::new(&run).judged().expect("it can be read");
            let status = report.status();
            // Cut or faulted at any place is no contradiction, but at the end of the program.
            let lawful = matches!(reason, EndReason::Cut | EndReason::Faulted);
            let expected = match (reason, own) {
                _ if reason == own && own == EndReason::Finished => 0,
                _ if reason == own => 3,
                (_, EndReason::Finished) => 1,
                _ if lawful => 3,
                _ => 1,
            };
            assert_eq!(status, expected, "{own:?} as {reason:?}: {report}");
        }
    }
}

#[test]
fn a_broken_run_is_rejected() {
    let mut broken = run(&program(), 9, Round::Cut, 5);
    broken.end.reason = EndReason::Broken as u64;
    Kept::new(&broken).rejected("left the form");
    broken.end.reason = 6;
    Kept::new(&broken).rejected("no known reason");
}

#[test]
fn a_transcript_without_its_end_is_rejected() {
    let kept = finished();
    let mut open = Kept::new(&run(&program(), 100, Round::Leave, 7));
    open.transcript
        .truncate(kept.transcript.len() - donjon_abi::flow::MESSAGE);
    open.reported().rejected("the run was not closed");
}

#[test]
fn an_early_end_moved_elsewhere_in_the_text_is_rejected() {
    let (mut wrong, mut lawful) = (0, 0);
    let text = program();
    let right = run(&text, 9, Round::Fault, 50);
    for at in 0..text.words.len() as u64 {
        let mut moved = right.clone();
        let last = moved.segments.last_mut().expect("one");
        last.pc = assembler::BASE + 4 * at;
        match Kept::new(&moved).judged().expect("it can be read").status() {
            1 => wrong += 1,
            3 => lawful += 1,
            other => panic!("{at}: {other}"),
        }
    }
    // Behind the last record, in `open`, behind its return and at the next start.
    assert!((10..30).contains(&lawful) && wrong > 50, "{lawful} {wrong}");
}
