// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

#[test]
fn without_a_verdict_there_is_no_result() {
    let kept = finished();
    let (status, read) = judged(&kept, b"no token", |_| {});
    assert!((status, read.is_none()) == (2, true));
    let (status, read) = judged(&kept, &kept.token(), |it| it.max_blocks = 5);
    assert!((status, read.is_none()) == (2, true));
    type Change = fn(&mut VerifyArguments);
    let changes: [Change; 4] = [
        |it| it.nonce = None,
        |it| it.key = None,
        |it| it.program = Some("/nowhere".into()),
        |it| it.path = it.path.join("nowhere"),
    ];
    for change in changes {
        let (status, read) = judged(&kept, &kept.token(), change);
        assert!((status, read.is_none()) == (2, true));
    }
}

#[test]
fn a_token_alone_needs_nonce_key_and_measurement() {
    let kept = finished();
    kept.write(&kept.token());
    type Change = fn(&mut VerifyArguments);
    let changes: [(Change, &str); 3] = [
        (|it| it.nonce = None, "--nonce"),
        (|it| it.key = None, "--key"),
        (|it| it.measurement = None, "--measurement"),
    ];
    for (change, words) in changes {
        let place = Place::new();
        let mut arguments = place.arguments(VerifyArguments {
            path: kept.folder().join("token"),
            measurement: Some(kept.claims.measurement),
            program: None,
            ..asked(&kept)
        });
        change(&mut arguments);
        let trouble = crate::run(&arguments).expect_err("it is missing");
        assert!(trouble.to_string().contains(words), "{trouble:#}");
        assert!(place.read().is_none());
    }
}

/// An old result that affirms would else stand for a run that has none.
#[test]
fn a_file_that_is_there_is_left_alone() {
    let kept = finished();
    kept.write(&kept.token());
    let place = Place::new();
    std::fs::write(place.ear(), b"old").expect("written");
    let arguments = place.arguments(asked(&kept));
    assert_eq!(crate::run(&arguments).expect("a status"), 2);
    assert_eq!(std::fs::read(place.ear()).expect("a file"), b"old");
    std::fs::remove_file(place.ear()).expect("it was there");
    assert_eq!(crate::run(&arguments).expect("a status"), 0);
    assert!(place.read().is_some());
}

#[test]
fn a_key_that_is_none_is_named_before_anything_is_judged() {
    let kept = finished();
    kept.write(&kept.token());
    let place = Place::new();
    let arguments = place.arguments(asked(&kept));
    let key = arguments.ear_key.as_deref().expect("a key");
    for bytes in [&b"nothing"[..], &[0xff; 9], &[b'-'; 5000]] {
        std::fs::write(key, bytes).expect("written");
        let trouble = crate::signer::Signer::open(key).err().expect("no key");
        assert!(trouble.to_string().contains("key"), "{trouble:#}");
        assert_eq!(crate::run(&arguments).expect("a status"), 2);
        assert!(place.read().is_none());
    }
}
