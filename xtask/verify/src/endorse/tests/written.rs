// SPDX-License-Identifier: MIT OR Apache-2.0
use ciborium::Value;
use coset::{CoseSign1, TaggedCborSerializable};
use donjon_compartment_image::Image;
use ed25519_dalek::pkcs8::DecodePublicKey;
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest, Sha256};

use super::read::{at, is_valid, parse, triples, without_tags};
use super::*;
use crate::endorse::boot_image::started;

#[test]
fn the_values_are_those_that_reports_have() {
    let place = Place::new();
    let bytes = written(&place.arguments()).expect("values");
    let whole = without_tags(&parse(&bytes));
    assert!(is_valid("unsigned-values", &whole), "{whole:?}");
    let reference = at(triples(&whole), &[0]);
    let digest = |triple: u64| at(reference, &[triple, 1, 0, 1, 2, 0, 1]);
    let boot = started(&place.path("boot"), LINE).expect("an image");
    assert_eq!(digest(0), &Value::Bytes(boot.into()));
    let program = fs::read(place.path("program")).expect("a program");
    let program = Image::parse(&program).expect("an image").measurement();
    assert_eq!(digest(1), &Value::Bytes(program.into()));
    assert_eq!(program, finished().claims.measurement);
}

/// The page that explains the values names their profile.
#[test]
fn the_profile_is_that_of_the_page() {
    let page = include_str!("../../../../../docs/attestation-results.md");
    let place = Place::new();
    let whole = without_tags(&parse(&written(&place.arguments()).expect("values")));
    let profile = at(&whole, &[2, 3, 2]).as_text().expect("a URI");
    assert!(page.contains(&format!("| `profile` (3) | `{profile}`")));
}

#[test]
fn key_version_policy_and_date_are_in_the_values() {
    let place = Place::new();
    let bytes = written(&place.whole()).expect("values");
    let whole = without_tags(&parse(&bytes));
    assert!(is_valid("unsigned-values", &whole), "{whole:?}");
    assert_eq!(at(&whole, &[2, 4, 1, 2]), &2_000_000_000_u64.into());
    let triples = triples(&whole);
    let version = at(triples, &[0, 0, 1, 1, 1, 0, 0]);
    assert_eq!(version, &"0.1.0".into());
    let key = at(triples, &[3, 0, 1, 0, 2]).as_text().expect("text");
    let key = VerifyingKey::from_public_key_pem(key).expect("a key");
    assert_eq!(key.to_bytes(), finished().claims.key);
    let policy = at(triples, &[10, 0, 1, 0, 1, 0, 1, 2, 0, 1]);
    let expected = Sha256::digest(b"must-run = ['check']");
    assert_eq!(policy, &Value::Bytes(expected.to_vec()));
    // The policy is that of this program and of no other one.
    let condition = at(triples, &[10, 0, 0, 0]);
    assert_eq!(condition, at(triples, &[0, 1]));
}

#[test]
fn equal_inputs_give_equal_bytes_and_each_other_one_other_identifiers() {
    let place = Place::new();
    let bytes = written(&place.whole()).expect("values");
    assert_eq!(bytes, written(&place.whole()).expect("values"));
    let identifiers = |bytes: &[u8]| {
        let whole = without_tags(&parse(bytes));
        [at(&whole, &[2, 0]), at(&whole, &[2, 1, 0, 2, 1, 0])].map(Clone::clone)
    };
    type Change = fn(&mut EndorseArguments);
    let changes: [Change; 6] = [
        |it| it.command_line = Some("quiet".into()),
        |it| it.inner_version = Some("0.1.1".into()),
        |it| it.inner_version = None,
        |it| it.attest_key = None,
        |it| it.policy = None,
        |it| it.not_after = None,
    ];
    let mut all = vec![identifiers(&bytes)];
    for change in changes {
        let mut arguments = place.whole();
        change(&mut arguments);
        all.push(identifiers(&written(&arguments).expect("values")));
    }
    for (at, one) in all.iter().enumerate() {
        assert_ne!(one[0], one[1], "{at}");
        assert!(!all[..at].contains(one), "{at}");
    }
}

#[test]
fn signed_values_are_the_unsigned_ones_with_a_signature_that_fits() {
    let place = Place::new();
    let mut arguments = place.whole();
    let unsigned = written(&arguments).expect("values");
    arguments.key = Some(place.path("key"));
    let bytes = written(&arguments).expect("values");
    assert_eq!(bytes, written(&arguments).expect("values"));
    let whole = without_tags(&parse(&bytes));
    assert!(is_valid("signed-values", &whole), "{whole:?}");
    let signed = CoseSign1::from_tagged_slice(&bytes).expect("a COSE_Sign1");
    assert_eq!(signed.payload.as_deref(), Some(&unsigned[..]));
    let check = |signature: &[u8], bytes: &[u8]| {
        let signature = Signature::from_slice(signature)?;
        signing().verifying_key().verify_strict(bytes, &signature)
    };
    signed.verify_signature(&[], check).expect("it fits");
    let mut changed = signed.clone();
    changed.payload.as_mut().expect("a payload")[100] ^= 1;
    changed
        .verify_signature(&[], check)
        .expect_err("another one");
    let mut changed = bytes.clone();
    let at = bytes.windows(7).position(|it| it == b"someone");
    changed[at.expect("the signer's name")] ^= 1;
    let changed = CoseSign1::from_tagged_slice(&changed).expect("a COSE_Sign1");
    changed
        .verify_signature(&[], check)
        .expect_err("another name");
}

/// The definitions have to refuse something, or they check nothing.
#[test]
fn the_definitions_refuse_another_form() {
    let place = Place::new();
    let whole = without_tags(&parse(&written(&place.whole()).expect("values")));
    assert!(is_valid("unsigned-values", &whole));
    let mut forms = Vec::new();
    others(&whole, &mut |it| forms.push(it));
    assert!(forms.len() > 80, "{}", forms.len());
    for form in forms {
        assert!(!is_valid("unsigned-values", &form), "{form:?}");
    }
    assert!(!is_valid("signed-values", &whole));
}

/// Lists values in which one leaf is of another type.
fn others(value: &Value, found: &mut dyn FnMut(Value)) {
    match value {
        Value::Array(all) => {
            for at in 0..all.len() {
                others(&all[at], &mut |it| {
                    let mut all = all.clone();
                    all[at] = it;
                    found(Value::Array(all));
                });
            }
        }
        Value::Map(all) => {
            for at in 0..all.len() {
                for key in [true, false] {
                    let part = if key { &all[at].0 } else { &all[at].1 };
                    others(part, &mut |it| {
                        let mut all = all.clone();
                        *(if key { &mut all[at].0 } else { &mut all[at].1 }) = it;
                        found(Value::Map(all));
                    });
                }
            }
        }
        _ => found(Value::Null),
    }
}
