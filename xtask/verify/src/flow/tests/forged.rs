// SPDX-License-Identifier: MIT OR Apache-2.0
use donjon_flow_check::Segments;

use super::kept::NAMES;
use super::run::{Run, digest};
use super::*;
use crate::flow::folder::Folder;
use crate::flow::log::Log;
use crate::flow::transcript::Transcript;
use crate::flow::walk::{Bounds, walk};

/// A run with a flush, in two segments.
fn short() -> Run {
    run(&program(), 33, Round::Leave, 20)
}

/// Changes a word of a log, and commits to the changed words.
fn forge(run: &mut Run, segment: usize, word: usize, bit: u32) {
    run.words[segment][word] ^= 1 << bit;
    run.segments[segment].digest = digest(&run.words[segment]);
}

/// Says whether a run would be accepted if no tag were compared.
fn is_path(kept: &Kept) -> bool {
    kept.write(&kept.token());
    let folder = Folder::open(&kept.folder()).expect("it is there");
    let transcript = Transcript::parse(&folder.transcript).expect("well formed");
    let mut log = Log::new(&folder.log, &transcript);
    let input = donjon_flow_check::read(&kept.program).expect("sound");
    let program = donjon_flow_check::Program::check(input).expect("lawful");
    let bounds = Bounds {
        blocks: 1 << 20,
        frames: 32,
    };
    let walked = walk(&program, &mut log, bounds, &mut None, None);
    walked.expect("it can be read").is_ok()
}

#[test]
fn no_bit_of_a_file_can_be_changed() {
    let mut kept = Kept::new(&short());
    let token = kept.token();
    assert_eq!(kept.judged().expect("it can be read").status(), 0);
    for bit in 0..8 * token.len() {
        let mut changed = token.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        if let Ok(report) = kept.judged_with(&changed) {
            assert_eq!(report.status(), 1, "bit {bit} of the token: {report}");
        }
    }
    for bit in 0..8 * kept.transcript.len() {
        kept.transcript[bit / 8] ^= 1 << (bit % 8);
        kept.rejected("the transcript is another one");
        kept.transcript[bit / 8] ^= 1 << (bit % 8);
    }
    for bit in 0..8 * kept.log.len() {
        kept.log[bit / 8] ^= 1 << (bit % 8);
        kept.rejected("the log was changed");
        kept.log[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn a_log_that_the_host_committed_to_needs_its_tag() {
    let right = short();
    for segment in 0..right.words.len() {
        for word in 0..right.words[segment].len() {
            for bit in 0..64 {
                let mut forged = right.clone();
                forge(&mut forged, segment, word, bit);
                let kept = Kept::new(&forged);
                let report = kept.rejected("the tag does not fit");
                assert_eq!(report.unproven.len(), 1, "{report}");
            }
        }
    }
}

/// The words are those of another path of the program, with the states of the run.
#[test]
fn without_tags_a_forged_log_would_be_accepted() {
    let mut forged = run(&program(), 20, Round::Leave, 30);
    let states = run(&program(), 9, Round::Leave, 30);
    forged.segments[0].first = states.segments[0].first;
    forged.segments[0].last = states.segments[0].last;
    let kept = Kept::new(&forged);
    kept.rejected("the tag does not fit");
    assert!(is_path(&kept));
}

/// The files are read twice: to check them, and to walk the path.
#[test]
fn a_log_that_changes_behind_its_check_is_not_walked() {
    let kept = finished();
    kept.write(&kept.token());
    let folder = Folder::open(&kept.folder()).expect("it is there");
    let transcript = Transcript::parse(&folder.transcript).expect("well formed");
    let mut log = Log::new(&folder.log, &transcript);
    for number in 0..transcript.segments.len() {
        let fits = log.check(number).expect("it can be read");
        assert!(fits.digest && fits.tag && log.load(number).is_some());
    }
    let mut changed = kept.log.clone();
    changed[0] ^= 1;
    std::fs::write(kept.folder().join("log"), changed).expect("written");
    assert!(log.load(0).is_none() && log.load(1).is_some());
    assert!(log.trouble().to_string().contains("was changed"));
    std::fs::write(kept.folder().join("log"), [0; 9]).expect("written");
    assert!(log.load(0).is_none() && log.check(0).is_err());
}

#[test]
fn all_bits_of_states_path_and_pc_count() {
    let right = run(&program(), 9, Round::Leave, 20);
    for bit in 0..256 {
        let mut forged = right.clone();
        forged.segments[0].last[bit / 64] ^= 1 << (bit % 64);
        Kept::new(&forged).rejected("segment 0: the tag does not fit");
        let mut forged = right.clone();
        forged.segments[0].first[bit / 64] ^= 1 << (bit % 64);
        Kept::new(&forged).rejected("segment 0: the tag does not fit");
    }
    for bit in 0..64 {
        let mut forged = right.clone();
        forged.segments[0].path ^= 1 << bit;
        Kept::new(&forged).rejected("rejected: segment 0, word");
        let mut forged = right.clone();
        forged.segments[0].pc ^= 1 << bit;
        Kept::new(&forged).rejected("rejected: segment 0, word");
    }
}

#[test]
fn segments_are_all_there_once_and_in_order() {
    let right = run(&program(), 100, Round::Leave, 7);
    let renumbered = |mut run: Run| {
        for (segment, index) in run.segments.iter_mut().zip(0..) {
            segment.index = index;
        }
        run.end.segments = run.segments.len() as u64;
        run
    };
    let mut changes = Vec::new();
    for at in 0..right.segments.len() - 1 {
        let mut dropped = right.clone();
        dropped.segments.remove(at);
        dropped.words.remove(at);
        let mut swapped = right.clone();
        swapped.segments.swap(at, at + 1);
        swapped.words.swap(at, at + 1);
        let mut repeated = right.clone();
        repeated.segments.insert(at, right.segments[at]);
        repeated.words.insert(at, right.words[at].clone());
        changes.extend([dropped, swapped, repeated]);
    }
    let report = Kept::new(&right).claims.data;
    for changed in changes {
        let mut kept = Kept::new(&changed);
        kept.rejected("the transcript is wrong");
        kept.claims.data = report;
        kept.rejected("the transcript is another one");
        // Also with numbers in order, if a report could be had about that.
        let kept = Kept::new(&renumbered(changed));
        let judged = kept.judged().expect("it can be read");
        // Two equal segments may stand in each other's place: then nothing was changed.
        let same = kept.log == Kept::new(&right).log;
        assert!(same || judged.status() == 1, "{judged}");
    }
    let mut short = right.clone();
    short.segments.pop();
    short.words.pop();
    Kept::new(&short).rejected("its end says");
}

#[test]
fn each_claim_of_the_token_is_compared() {
    type Change = fn(&mut Kept);
    let changes: [(&str, Change); 8] = [
        ("asked for by itself", |it| it.claims.limit &= 0xffff_ffff),
        ("kind is not known", |it| it.claims.limit ^= 3 << 32),
        ("another limit", |it| it.claims.limit += 1),
        ("the nonce is another one", |it| it.claims.nonce = [1; 32]),
        ("leaves out checks", |it| it.claims.weakened = 1),
        ("another program than expected", |it| {
            it.claims.measurement[31] ^= 1
        }),
        ("was started than expected", |it| it.claims.started[0] ^= 1),
        ("the key is not the machine's", |it| it.claims.key[0] ^= 1),
    ];
    for (words, change) in changes {
        let mut kept = finished();
        change(&mut kept);
        kept.rejected(words);
    }
}

#[test]
fn the_transcript_is_about_the_same_run_as_the_report() {
    // Offsets of measurement and nonce in the start.
    for (at, words) in [(8, "another measurement"), (40, "another nonce")] {
        let mut kept = finished();
        kept.transcript[at] ^= 1;
        kept.reported().rejected(words);
    }
}

#[test]
fn another_program_with_the_same_names_is_rejected() {
    let mut kept = finished();
    let mut other = program();
    let never = (other.labels["never"] - assembler::BASE) / 4;
    // adds x0, x0, #0
    other.words[never as usize] = 0xb100_0000;
    kept.program = kept::file(&other, NAMES);
    kept.rejected("another program than expected");
}

#[test]
fn a_program_that_the_checker_refuses_is_rejected() {
    let mut other = program();
    let pointer = (other.labels["pointer"] - assembler::BASE) / 4;
    // One step of a record is gone.
    other.words[pointer as usize + 9] = 0xd503_201f;
    let file = kept::file(&other, NAMES);
    let kept = Kept::of(&run(&other, 9, Round::Leave, 7), file);
    let report = kept.rejected("is not of attested form");
    assert!(report.to_string().contains("(work+0x"), "{report}");
}
