// SPDX-License-Identifier: MIT OR Apache-2.0
//! A result as a service reads it.

use std::collections::BTreeMap;

use cddl_cat::validate_cbor_bytes;
use corim::cbor::decode_exact;
use corim::cbor::value::Value;
use corim::types::signed::build_sig_structure1;
use ed25519_dalek::Signature;

use super::verifier;

/// The definitions.
pub const CDDL: &str = include_str!("../../../fixtures/ear.cddl");
/// Head of the tag of a COSE_Sign1 (RFC 9052, 4.2).
const TAG: u8 = 0xd2;

/// A result.
pub struct Read {
    /// The claims.
    pub claims: Value,
    /// The label of the one appraisal.
    pub label: String,
    /// The appraisal.
    pub appraisal: Value,
}

/// Reads a result whose signature fits. None if it is none, or the signature does not fit.
pub fn claims(bytes: &[u8]) -> Option<Value> {
    let Ok(Value::Tag(18, inner)) = decode_exact::<Value>(bytes) else {
        return None;
    };
    let Value::Array(parts) = *inner else {
        return None;
    };
    let [
        Value::Bytes(protected),
        Value::Map(unprotected),
        Value::Bytes(payload),
        Value::Bytes(signature),
    ] = &parts[..]
    else {
        return None;
    };
    let signed = build_sig_structure1(protected, &[], payload).ok()?;
    let signature = Signature::from_slice(signature).ok()?;
    let fits = verifier()
        .verifying_key()
        .verify_strict(&signed, &signature);
    fits.ok().filter(|()| unprotected.is_empty())?;
    decode_exact(payload).ok()
}

/// Returns an entry of a map.
pub fn entry(map: &Value, key: impl Into<Key>) -> Option<&Value> {
    let Value::Map(entries) = map else {
        panic!("no map: {map:?}");
    };
    let key = match key.into() {
        Key::Number(it) => Value::Integer(it.into()),
        Key::Name(it) => Value::Text(it.into()),
    };
    let mut found = entries.iter().filter(|it| it.0 == key);
    let value = found.next().map(|it| &it.1);
    assert!(found.next().is_none(), "{key:?} stands twice");
    value
}

/// A key of a map.
pub enum Key {
    Number(i64),
    Name(&'static str),
}

impl From<i64> for Key {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&'static str> for Key {
    fn from(name: &'static str) -> Self {
        Self::Name(name)
    }
}

/// Returns a number.
pub fn number(value: Option<&Value>) -> i128 {
    match value {
        Some(Value::Integer(it)) => *it,
        other => panic!("no number: {other:?}"),
    }
}

impl Read {
    /// Reads a result, and fails unless it is one and has the definitions' form.
    pub fn new(bytes: &[u8]) -> Self {
        let (tag, untagged) = bytes.split_first().expect("bytes");
        assert_eq!(*tag, TAG);
        validate_cbor_bytes("sign1", CDDL, untagged).expect("the form");
        let claims = claims(bytes).expect("a result whose signature fits");
        let Some(Value::Map(submods)) = entry(&claims, 266) else {
            panic!("no appraisals");
        };
        let [(Value::Text(label), appraisal)] = &submods[..] else {
            panic!("one appraisal: {submods:?}");
        };
        let (label, appraisal) = (label.clone(), appraisal.clone());
        assert_eq!(entry(&claims, 1000), entry(&appraisal, 1000), "one tier");
        Self {
            claims,
            label,
            appraisal,
        }
    }

    /// Returns the tier.
    pub fn tier(&self) -> i128 {
        number(entry(&self.claims, 1000))
    }

    /// Returns the trustworthiness vector.
    pub fn vector(&self) -> BTreeMap<i128, i128> {
        let Some(Value::Map(entries)) = entry(&self.appraisal, 1001) else {
            panic!("no vector");
        };
        let pair = |it: &(Value, Value)| (number(Some(&it.0)), number(Some(&it.1)));
        entries.iter().map(pair).collect()
    }

    /// Returns what the evidence says, if it is passed on.
    pub fn evidence(&self, name: &'static str) -> Option<&Value> {
        entry(entry(&self.appraisal, 1005)?, name)
    }

    /// Returns a list of the verdict.
    pub fn list(&self, name: &'static str) -> &[Value] {
        let added = entry(&self.appraisal, 1006).expect("claims of the verifier");
        match entry(added, name) {
            Some(Value::Array(all)) => all,
            other => panic!("no list: {other:?}"),
        }
    }
}
