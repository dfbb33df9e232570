// SPDX-License-Identifier: MIT OR Apache-2.0
use std::fs;

use anyhow::Result;
use donjon_token::sign;
use ed25519_dalek::{Signer, SigningKey};
use tempfile::NamedTempFile;

use super::*;
use crate::VerifyArguments;

fn claims() -> Claims {
    Claims {
        nonce: [1; 32],
        data: [2; 32],
        measurement: [3; 32],
        limit: 64,
        started: [4; 32],
        version: 1 << 16,
        weakened: 0,
        identity: 1,
        quoter: [5; 32],
        key: signing().verifying_key().to_bytes(),
    }
}

fn signing() -> SigningKey {
    SigningKey::from_bytes(&[9; 32])
}

fn bytes(claims: &Claims) -> Vec<u8> {
    sign(claims, |bytes| signing().sign(bytes).to_bytes()).expect("a token")
}

fn token(claims: &Claims) -> Token {
    Token::parse(&bytes(claims)).expect("one")
}

fn all() -> Expected {
    Expected {
        nonce: Some([1; 32]),
        key: Some(claims().key),
        measurement: Some([3; 32]),
        started: Some([4; 32]),
    }
}

#[test]
fn what_was_expected_is_proven() {
    let verdict = Verdict::of(&token(&claims()), &all());
    assert!(verdict.wrong.is_empty(), "{verdict}");
    assert_eq!(verdict.proven.len(), 4);
}

#[test]
fn what_is_not_known_is_not_proven() {
    let verdict = Verdict::of(&token(&claims()), &Expected::default());
    assert!(
        verdict.wrong.is_empty() && verdict.proven.is_empty(),
        "{verdict}"
    );
    assert!(verdict.to_string().contains("any program that makes a key"));
}

#[test]
fn nothing_is_proven_without_the_key() {
    let forger = SigningKey::from_bytes(&[8; 32]);
    let claims = Claims {
        key: forger.verifying_key().to_bytes(),
        ..claims()
    };
    let forged = sign(&claims, |bytes| forger.sign(bytes).to_bytes()).expect("a token");
    let forged = Token::parse(&forged).expect("one");
    let without = Expected { key: None, ..all() };
    let verdict = Verdict::of(&forged, &without);
    assert!(verdict.proven.is_empty(), "{verdict}");
    assert_eq!(verdict.agrees.len(), 3);
    assert!(!verdict.to_string().contains("It proves:"));
    assert!(!Verdict::of(&forged, &all()).wrong.is_empty());
}

#[test]
fn each_expectation_is_compared() {
    let wrong = Some([0xee; 32]);
    for expected in [
        Expected {
            nonce: wrong,
            ..all()
        },
        Expected {
            key: wrong,
            ..all()
        },
        Expected {
            measurement: wrong,
            ..all()
        },
        Expected {
            started: wrong,
            ..all()
        },
    ] {
        let verdict = Verdict::of(&token(&claims()), &expected);
        assert_eq!(verdict.wrong.len(), 1, "{verdict}");
        assert!(!verdict.to_string().contains("It proves:"));
    }
}

#[test]
fn a_weakened_build_and_a_machine_without_identity_are_named() {
    let weakened = Claims {
        weakened: 1,
        ..claims()
    };
    assert_eq!(Verdict::of(&token(&weakened), &all()).wrong.len(), 1);
    let nowhere = Claims {
        identity: 0,
        ..claims()
    };
    let verdict = Verdict::of(&token(&nowhere), &all());
    assert!(verdict.open.iter().any(|it| it.contains("no identity")));
}

#[test]
fn a_flow_report_is_nothing_alone_and_another_report_is_none() {
    for (kind, wanted, words) in [
        (1, 0, "name the folder"),
        (2, 0, "not known"),
        (0, 1, "asked for by itself"),
        (2, 1, "not known"),
        (u64::from(u32::MAX), 1, "not known"),
    ] {
        let claims = Claims {
            limit: kind << 32 | 64,
            ..claims()
        };
        let verdict = Verdict::of_kind(&token(&claims), &all(), wanted);
        assert_eq!(verdict.wrong.len(), 1, "{verdict}");
        assert!(verdict.wrong[0].contains(words), "{verdict}");
        assert!(verdict.to_string().contains("64 frames"), "{verdict}");
        let right = Verdict::of_kind(&token(&claims), &all(), kind);
        assert!(right.wrong.is_empty(), "{right}");
    }
}

#[test]
fn no_byte_of_a_token_can_be_changed() {
    let right = bytes(&claims());
    for at in 0..right.len() {
        for bit in 0..8 {
            let mut changed = right.clone();
            changed[at] ^= 1 << bit;
            let Ok(token) = Token::parse(&changed) else {
                continue;
            };
            let verdict = Verdict::of(&token, &Expected::default());
            assert!(!verdict.wrong.is_empty(), "byte {at}, bit {bit}");
        }
    }
}

/// What the command says of a file with these bytes, if everything is as expected of the token.
fn command(bytes: &[u8]) -> Result<u8> {
    let file = NamedTempFile::new()?;
    fs::write(file.path(), bytes)?;
    let Expected {
        nonce,
        key,
        measurement,
        started,
    } = all();
    crate::run(&VerifyArguments {
        path: file.path().to_owned(),
        nonce,
        key,
        measurement,
        started,
        ..crate::tests::no_arguments()
    })
}

/// The structure around claims and signature is not signed: the signature fits whichever way it is
/// written.
#[test]
fn the_command_refuses_a_token_that_was_written_anew() {
    let right = bytes(&claims());
    // An array of four, the protected header in a string, an empty unprotected header.
    let (head, rest) = right.split_at(6);
    assert_eq!(head, [0x84, 0x43, 0xa1, 0x01, 0x27, 0xa0]);
    assert_eq!(command(&right).expect("a token"), 0);
    let mut accepted = Vec::new();
    for (what, head, behind) in [
        (
            "a key identifier",
            &[0x84, 0x43, 0xa1, 1, 0x27, 0xa1, 4, 0x41, 1][..],
            &[][..],
        ),
        (
            "text",
            &[0x84, 0x43, 0xa1, 1, 0x27, 0xa1, 0x61, b'x', 0x61, b'y'],
            &[],
        ),
        ("a length byte", &[0x98, 4, 0x43, 0xa1, 1, 0x27, 0xa0], &[]),
        ("no length", &[0x9f, 0x43, 0xa1, 1, 0x27, 0xa0], &[0xff]),
        (
            "a string with a length byte",
            &[0x84, 0x58, 3, 0xa1, 1, 0x27, 0xa0],
            &[],
        ),
        (
            "a header with a length byte",
            &[0x84, 0x43, 0xa1, 1, 0x27, 0xb8, 0],
            &[],
        ),
        ("a tag", &[0xd2, 0x84, 0x43, 0xa1, 1, 0x27, 0xa0], &[]),
        ("a byte behind it", head, &[0]),
    ] {
        match command(&[head, rest, behind].concat()) {
            Ok(_) => accepted.push(what),
            Err(error) => assert!(error.to_string().contains("is no token"), "{error:#}"),
        }
    }
    assert_eq!(accepted, [""; 0]);
}
