// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command itself: its statuses.

use super::*;
use crate::VerifyArguments;
use crate::tests::no_arguments;

fn arguments(kept: &Kept) -> VerifyArguments {
    kept.write(&kept.token());
    VerifyArguments {
        path: kept.folder(),
        nonce: Some(kept::NONCE),
        key: Some(kept.claims.key),
        program: Some(kept.folder().join("../program")),
        ..no_arguments()
    }
}

#[test]
fn each_status_is_given() {
    let text = program();
    let status = |kept: &Kept| crate::run(&arguments(kept)).expect("a status");
    assert_eq!(status(&finished()), 0);
    let mut wrong = finished();
    wrong.log[0] ^= 1;
    assert_eq!(status(&wrong), 1);
    let kept = finished();
    let mut long = arguments(&kept);
    long.max_blocks = 5;
    assert_eq!(crate::run(&long).expect("a status"), 2);
    let cut = Kept::new(&run(&text, 9, Round::Cut, 7));
    assert_eq!(status(&cut), 3);
    for (prefix, count) in [(false, 1), (true, 3)] {
        let mut arguments = arguments(&cut);
        arguments.prefix = prefix;
        let question = crate::Question::of(&arguments).expect("all is named");
        let report = crate::judge(&question).expect("it can be read");
        assert_eq!(report.status(), 3, "{report}");
        let said = report.to_string();
        assert_eq!(said.matches("ended at 0x").count(), count, "{said}");
    }
}

#[test]
fn a_run_needs_nonce_key_and_program() {
    let kept = finished();
    type Change = fn(&mut VerifyArguments);
    let changes: [Change; 5] = [
        |it| it.nonce = None,
        |it| it.key = None,
        |it| it.program = None,
        |it| it.program = Some("/nowhere".into()),
        |it| it.path = it.path.join("nowhere"),
    ];
    for change in changes {
        let mut arguments = arguments(&kept);
        change(&mut arguments);
        assert_eq!(
            crate::run(&arguments).expect("a status"),
            2,
            "{arguments:?}"
        );
    }
    for (nonce, measurement, status) in [
        (kept::NONCE, kept.claims.measurement, 0),
        ([1; 32], kept.claims.measurement, 1),
        (kept::NONCE, [1; 32], 1),
    ] {
        let mut arguments = arguments(&kept);
        arguments.nonce = Some(nonce);
        arguments.measurement = Some(measurement);
        assert_eq!(crate::run(&arguments).expect("a status"), status);
    }
}

#[test]
fn a_token_alone_keeps_its_errors_and_is_refused_as_a_flow_report() {
    let kept = finished();
    let mut arguments = arguments(&kept);
    arguments.program = None;
    arguments.path = kept.folder().join("token");
    assert_eq!(crate::run(&arguments).expect("a token"), 1);
    arguments.policy = Some("policy".into());
    let trouble = crate::run(&arguments)
        .expect_err("that is of a run")
        .to_string();
    assert!(trouble.contains("--policy"), "{trouble}");
    arguments.policy = None;
    arguments.path = kept.folder().join("nowhere");
    crate::run(&arguments).expect_err("there is none");
}
