// SPDX-License-Identifier: MIT OR Apache-2.0
use cddl_cat::util::ValidateError;
use cddl_cat::validate_cbor_bytes;
use corim::cbor::encode;
use corim::cbor::value::Value;

use super::read::{CDDL, claims};
use super::*;

/// Returns the bytes of a result about a run that was rejected.
fn rejected() -> Vec<u8> {
    let mut kept = finished();
    kept.log[0] ^= 1;
    kept.write(&kept.token());
    let place = Place::new();
    let arguments = place.arguments(asked(&kept));
    assert_eq!(crate::run(&arguments).expect("a status"), 1);
    fs::read(place.ear()).expect("a result")
}

#[test]
fn no_bit_of_a_result_can_be_changed() {
    let right = rejected();
    assert!(claims(&right).is_some());
    for at in 0..right.len() {
        for bit in 0..8 {
            let mut changed = right.clone();
            changed[at] ^= 1 << bit;
            assert!(claims(&changed).is_none(), "byte {at}, bit {bit}");
        }
    }
    assert!(claims(&[&right[..], &[0]].concat()).is_none());
}

/// The definitions have to refuse something, or they check nothing.
#[test]
fn the_definitions_refuse_another_form() {
    let right = claims(&rejected()).expect("a result");
    let valid = |it: &Value| {
        let bytes = encode(it).expect("bytes");
        match validate_cbor_bytes("result", CDDL, &bytes) {
            Ok(()) => true,
            Err(ValidateError::Mismatch(_) | ValidateError::MapCut(_)) => false,
            Err(trouble) => panic!("the definitions are wrong: {trouble}"),
        }
    };
    assert!(valid(&right));
    let Value::Map(entries) = &right else {
        panic!("a map");
    };
    for at in 0..entries.len() {
        let mut fewer = entries.clone();
        fewer.remove(at);
        assert!(!valid(&Value::Map(fewer)), "without {:?}", entries[at].0);
        let mut other = entries.clone();
        other[at].1 = Value::Bool(true);
        assert!(!valid(&Value::Map(other)), "another {:?}", entries[at].0);
    }
    let mut more = entries.clone();
    more.push((Value::Integer(1008), Value::Integer(0)));
    assert!(!valid(&Value::Map(more)), "one more");
    let tier = |it: i128| {
        let mut other = entries.clone();
        for entry in &mut other {
            if entry.0 == Value::Integer(1000) {
                entry.1 = Value::Integer(it);
            }
        }
        Value::Map(other)
    };
    assert!(valid(&tier(2)) && !valid(&tier(0)) && !valid(&tier(3)));
}
