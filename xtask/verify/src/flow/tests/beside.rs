// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

fn beside(own: (usize, Round), golden: (usize, Round), room: usize) -> Kept {
    let text = program();
    let mut kept = Kept::new(&run(&text, own.0, own.1, 7));
    let other = Kept::new(&run(&text, golden.0, golden.1, room));
    other.write(&[]);
    let place = other.folder();
    // The token of a golden run is not looked at, so it need not be there.
    std::fs::remove_file(place.join("token")).expect("it was there");
    kept.golden = Some(place);
    std::mem::forget(other);
    kept
}

#[test]
fn the_path_of_the_golden_run_is_accepted_however_its_log_is_cut() {
    for rounds in [0, 1, 31, 100, 3000] {
        for room in [1, 7, 500, 10_000] {
            let kept = beside((rounds, Round::Leave), (rounds, Round::Leave), room);
            let report = kept.judged().expect("it can be read");
            assert_eq!(report.status(), 0, "{report}");
            let said = report.to_string();
            assert!(
                said.contains("each step is that of the golden run"),
                "{said}"
            );
        }
    }
}

#[test]
fn the_first_step_that_differs_is_named() {
    // A round has three blocks in `work`, one each in `check` and `open`.
    for (own, golden, words) in [
        ((9, Round::Leave), (10, Round::Leave), "(work+0x"),
        ((10, Round::Leave), (9, Round::Leave), "(work+0x"),
        ((3000, Round::Leave), (2999, Round::Leave), "(work+0x"),
        ((9, Round::GiveUp), (9, Round::Leave), "(work+0x"),
        ((9, Round::Cut), (9, Round::Leave), "(work+0x"),
    ] {
        let kept = beside(own, golden, 20);
        let report = kept.rejected("the path leaves that of the golden run at step");
        assert!(report.to_string().contains(words), "{report}");
    }
    let kept = beside((9, Round::Fault), (100, Round::Leave), 20);
    kept.rejected("it is at its end, the other one at 0x");
}

#[test]
fn a_golden_run_that_does_not_fit_itself_is_an_error() {
    for (file, at, words) in [
        ("log", 0, "was changed"),
        ("transcript", 128 + 8, "was changed"),
        ("transcript", 8, "of another program"),
        ("transcript", 127, "the transcript is wrong"),
    ] {
        let kept = beside((9, Round::Leave), (9, Round::Leave), 20);
        let path = kept.golden.as_ref().expect("a folder").join(file);
        let mut bytes = std::fs::read(&path).expect("it is there");
        bytes[at] ^= 1;
        std::fs::write(&path, bytes).expect("written");
        let trouble = kept.judged().expect_err("it is of no use");
        assert!(format!("{trouble:#}").contains(words), "{trouble:#}");
    }
    let mut kept = beside((9, Round::Leave), (9, Round::Leave), 20);
    kept.golden = Some("/".into());
    assert!(kept.judged().is_err());
}
