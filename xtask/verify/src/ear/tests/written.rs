// SPDX-License-Identifier: MIT OR Apache-2.0
use std::time::{SystemTime, UNIX_EPOCH};

use corim::cbor::value::Value;
use donjon_token::to_hexadecimal;
use sha2::{Digest, Sha256};

use super::read::{entry, number};
use super::*;

fn bytes(of: &[u8]) -> Value {
    Value::Bytes(of.to_vec())
}

fn text(of: &str) -> Value {
    Value::Text(of.into())
}

#[test]
fn a_proven_run_is_affirmed_with_what_it_said() {
    let kept = finished();
    let before = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a time");
    let (status, read) = judged(&kept, &kept.token(), |_| {});
    let read = read.expect("a result");
    assert_eq!((status, read.tier()), (0, 2));
    assert_eq!(read.label, "donjon-run");
    assert_eq!(read.vector(), [(0, 2), (1, 2), (2, 3)].into());
    let issued = number(entry(&read.claims, 6)) as u64;
    assert!((before.as_secs()..before.as_secs() + 600).contains(&issued));
    assert_eq!(entry(&read.claims, 10), Some(&bytes(&NONCE)));
    let verifier = entry(&read.claims, 1004).expect("the verifier");
    let build = format!("donjon-verify {}", env!("CARGO_PKG_VERSION"));
    assert_eq!(entry(verifier, 1), Some(&text(&build)));
    for (name, value) in [
        ("measurement", bytes(&kept.claims.measurement)),
        ("data", bytes(&kept.claims.data)),
        ("started", bytes(&[4; 32])),
        ("quoter", bytes(&[5; 32])),
        ("key", bytes(&kept.claims.key)),
        ("kind", Value::Integer(1)),
        ("limit", Value::Integer(32)),
        ("version", text("0.1.0")),
        ("weakened", Value::Integer(0)),
        ("identity", Value::Integer(1)),
        ("end", Value::Integer(1)),
        ("result", Value::Integer(0x1234)),
        ("result-data", bytes(&[7; 32])),
        (
            "arguments",
            Value::Array([5, 6, 7, 8].map(Value::Integer).into()),
        ),
    ] {
        assert_eq!(read.evidence(name), Some(&value), "{name}");
    }
    assert_eq!(entry(&read.appraisal, 10), Some(&bytes(&NONCE)));
    assert!(read.list("wrong").is_empty());
    assert!(read.list("proven").len() > 3 && read.list("open").len() > 3);
    let added = entry(&read.appraisal, 1006).expect("claims of the verifier");
    let digests = entry(added, "sha-256").expect("digests");
    let token = Sha256::digest(kept.token());
    assert_eq!(entry(digests, "token"), Some(&bytes(&token)));
    let transcript = Sha256::digest(&kept.transcript);
    assert_eq!(entry(digests, "transcript"), Some(&bytes(&transcript)));
}

#[test]
fn what_was_not_compared_is_not_claimed() {
    let mut kept = finished();
    let (_, read) = judged(&kept, &kept.token(), |it| it.started = None);
    let read = read.expect("a result");
    assert_eq!(read.tier(), 2);
    assert_eq!(read.vector(), [(0, 2), (2, 0)].into());
    kept.claims.identity = 0;
    let (status, read) = judged(&kept, &kept.token(), |it| it.started = None);
    let read = read.expect("a result");
    assert_eq!((status, read.tier()), (0, 2));
    assert_eq!(read.vector(), [(2, 0)].into());
}

#[test]
fn an_early_end_is_a_warning_that_affirms_no_executables() {
    for last in [Round::Cut, Round::GiveUp, Round::Fault] {
        let kept = Kept::new(&run(&program(), 9, last, 7));
        let (status, read) = judged(&kept, &kept.token(), |_| {});
        let read = read.expect("a result");
        assert_eq!((status, read.tier()), (3, 32), "{last:?}");
        assert_eq!(read.vector(), [(0, 2), (1, 2), (2, 0)].into());
        assert_ne!(read.evidence("end"), Some(&Value::Integer(1)));
    }
}

#[test]
fn policy_and_golden_run_are_named_by_their_digests() {
    let mut kept = finished();
    let policy = "must-run = ['check']";
    kept.policy = Some(policy.into());
    let other = finished();
    other.write(&[]);
    kept.golden = Some(other.folder());
    let (status, read) = judged(&kept, &kept.token(), |_| {});
    assert_eq!(status, 0);
    let read = read.expect("a result");
    let digits = |of: &[u8]| to_hexadecimal(&Sha256::digest(of));
    let named = [
        format!("donjon-policy:sha-256:{}", digits(policy.as_bytes())),
        format!("donjon-golden:sha-256:{}", digits(&other.transcript)),
    ];
    let named = named.map(|it| text(&it));
    assert_eq!(
        entry(&read.appraisal, 1003),
        Some(&Value::Array(named.into()))
    );
}

/// Asks about a token that stands alone, and everything of it is expected.
fn alone(kept: &Kept) -> VerifyArguments {
    VerifyArguments {
        path: kept.folder().join("token"),
        measurement: Some(kept.claims.measurement),
        program: None,
        ..asked(kept)
    }
}

#[test]
fn a_token_alone_has_a_result_as_well() {
    for (kind, status, tier, vector) in [
        (0, 0, 2, [(0, 2), (1, 2), (2, 3)].into()),
        // The report of a run is nothing without it.
        (1, 1, 96, [(2, 0)].into()),
    ] {
        let mut kept = finished();
        kept.claims.limit = kind << 32 | 32;
        kept.write(&kept.token());
        let place = Place::new();
        let arguments = place.arguments(alone(&kept));
        assert_eq!(crate::run(&arguments).expect("a status"), status);
        let read = place.read().expect("a result");
        assert_eq!((read.tier(), read.vector()), (tier, vector));
        assert_eq!(read.label, "donjon-report");
        assert!(read.evidence("measurement").is_some());
        assert!(read.evidence("end").is_none());
    }
}
