// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reference values as a service reads them.

use cddl_cat::util::ValidateError;
use cddl_cat::validate_cbor_bytes;
use ciborium::Value;

/// The definitions.
const CDDL: &str = include_str!("../../../fixtures/corim.cddl");

/// Reads CBOR.
pub fn parse(bytes: &[u8]) -> Value {
    let mut rest = bytes;
    let value = ciborium::from_reader(&mut rest).expect("CBOR");
    assert!(rest.is_empty(), "bytes behind it");
    value
}

/// Returns a value with arrays in place of tags, as the definitions have them.
pub fn without_tags(value: &Value) -> Value {
    match value {
        Value::Tag(number, content) => {
            let content = match (number, &**content) {
                (506, Value::Bytes(bytes)) => without_tags(&parse(bytes)),
                (18, Value::Array(parts)) => {
                    let mut parts = parts.clone();
                    let payload = parts[2].as_bytes().expect("bytes");
                    parts[2] = without_tags(&parse(payload));
                    Value::Array(parts)
                }
                (_, content) => without_tags(content),
            };
            Value::Array(vec!["tag".into(), (*number).into(), content])
        }
        Value::Array(all) => Value::Array(all.iter().map(without_tags).collect()),
        Value::Map(all) => {
            let pair = |(key, value): &(Value, Value)| (without_tags(key), without_tags(value));
            Value::Map(all.iter().map(pair).collect())
        }
        other => other.clone(),
    }
}

/// Says whether a value without tags has the form of a rule.
pub fn is_valid(rule: &str, value: &Value) -> bool {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).expect("bytes");
    match validate_cbor_bytes(rule, CDDL, &bytes) {
        Ok(()) => true,
        Err(ValidateError::Mismatch(_) | ValidateError::MapCut(_)) => false,
        Err(trouble) => panic!("the definitions are wrong: {trouble}"),
    }
}

/// Follows keys of maps and numbers of arrays.
pub fn at<'a>(value: &'a Value, path: &[u64]) -> &'a Value {
    path.iter().fold(value, |value, &step| match value {
        Value::Array(all) => &all[step as usize],
        Value::Map(all) => {
            let found = all.iter().find(|it| it.0 == step.into());
            &found.unwrap_or_else(|| panic!("no {step} in {value:?}")).1
        }
        other => panic!("{step} of {other:?}"),
    })
}

/// Returns the triples of unsigned values without tags.
pub fn triples(whole: &Value) -> &Value {
    // The tag's content, its tags, the first one's content, its triples.
    at(whole, &[2, 1, 0, 2, 4])
}
