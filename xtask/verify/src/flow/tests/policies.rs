// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::flow::policy::Policy;

fn judged(policy: &str) -> (u8, String) {
    let mut kept = finished();
    kept.policy = Some(policy.into());
    let report = kept.judged().expect("it can be read");
    (report.status(), report.to_string())
}

#[test]
fn a_policy_that_is_fulfilled_is_accepted() {
    for policy in [
        "",
        "must-run = ['check', 'open', 'work', '_start']",
        "must-not-run = ['never']",
        "[calls.open]\nleast = 100\nmost = 100",
        "[calls.work]\nmost = 1",
        "[calls._start]\nleast = 1\nmost = 1",
        "[calls.never]\nmost = 0",
        "[[order]]\nfirst = 'check'\nthen = 'open'",
        "[[order]]\nfirst = 'check'\nthen = 'open'\neach = true",
        "[[order]]\nfirst = 'open'\nthen = 'never'",
        "[[order]]\nfirst = 'work'\nthen = 'open'",
        "[result]\nword = 0x1234",
        "[result]\nword = '0x1234'",
        "[result]\ndata = '0707070707070707070707070707070707070707070707070707070707070707'",
    ] {
        let (status, said) = judged(policy);
        assert_eq!(status, 0, "{policy}: {said}");
        assert!(said.contains("the path fulfils the policy"), "{said}");
    }
}

#[test]
fn a_policy_that_is_not_fulfilled_is_named() {
    for (policy, words) in [
        ("must-run = ['check', 'never']", "never has not run"),
        ("must-not-run = ['open']", "open has run: 0x"),
        (
            "[calls.open]\nleast = 101",
            "entered 100 times, not at least 101",
        ),
        (
            "[calls.open]\nmost = 99",
            "entered 100 times, not at most 99",
        ),
        (
            "[[order]]\nfirst = 'open'\nthen = 'check'",
            "entry 1 of check has no open before it",
        ),
        (
            "[[order]]\nfirst = 'work'\nthen = 'open'\neach = true",
            "entry 2 of open has no work before it",
        ),
        (
            "[[order]]\nfirst = 'never'\nthen = 'open'",
            "entry 1 of open has no never before it",
        ),
        ("[result]\nword = 1", "the result is 0x1234, not 0x1"),
        (
            "[result]\ndata = '0000000000000000000000000000000000000000000000000000000000000000'",
            "the result's bytes are 0707",
        ),
    ] {
        let (status, said) = judged(policy);
        assert_eq!(status, 1, "{policy}: {said}");
        assert!(said.contains(words), "{words}: {said}");
        assert!(!said.contains("It proves:"), "{said}");
    }
}

#[test]
fn a_result_needs_an_end() {
    let mut kept = Kept::new(&run(&program(), 9, Round::Cut, 7));
    kept.policy = Some("[result]\nword = 0".into());
    kept.rejected("has not ended by itself");
    kept.policy = Some("must-run = ['open']".into());
    assert_eq!(kept.judged().expect("it can be read").status(), 3);
    kept.policy = Some("must-run = ['never']".into());
    kept.rejected("never has not run");
}

#[test]
fn what_a_policy_cannot_mean_is_an_error() {
    for policy in [
        "must-runs = []",
        "[calls.open]\natmost = 1",
        "[calls.open]\nleast = 2\nmost = 1",
        "[[order]]\nfirst = 'open'",
        "[[order]]\nfirst = 'open'\nthen = 'open'",
        "[result]\nwords = 1",
        "[result]\nword = -1",
        "must-run = 'open'",
        "=",
    ] {
        assert!(Policy::parse(policy).is_err(), "{policy}");
    }
    for (policy, words) in [
        ("must-run = ['other']", "no function other"),
        ("must-run = ['ope']", "no function ope"),
        ("[result]\nword = '1234'", "write 0x"),
        ("[result]\ndata = '07'", "64 hexadecimal digits"),
    ] {
        let mut kept = finished();
        kept.policy = Some(policy.into());
        let trouble = kept.judged().expect_err("it means nothing");
        assert!(format!("{trouble:#}").contains(words), "{trouble:#}");
    }
}

/// A rule about a part of a function would hold although the rest of it does not.
#[test]
fn names_that_are_not_all_of_one_function_are_an_error() {
    for (names, words) in [
        (
            ["_start", "work", "check", "open", "check"],
            "several functions",
        ),
        (["_start", "work", "check", "open", "check.part.0"], "noipa"),
        (
            ["_start", "work", "check", "open", "check.constprop.0"],
            "noipa",
        ),
    ] {
        let mut kept = finished();
        kept.program = kept::file(&program(), names);
        kept.policy = Some("must-not-run = ['check']".into());
        let trouble = kept.judged().expect_err("it is ambiguous");
        assert!(format!("{trouble:#}").contains(words), "{trouble:#}");
    }
    let mut kept = finished();
    let text = program();
    let places = ["check", "open", "check"].map(|it| text.labels[it]);
    let named: Vec<_> = ["check", "open", "folded"]
        .into_iter()
        .zip(places)
        .collect();
    kept.program = elf::elf(&text, &named);
    kept.policy = Some("must-not-run = ['folded']".into());
    let trouble = kept.judged().expect_err("it is ambiguous");
    assert!(format!("{trouble:#}").contains("one code"), "{trouble:#}");
}
