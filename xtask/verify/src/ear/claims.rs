// SPDX-License-Identifier: MIT OR Apache-2.0
//! The claims of an attestation result, in CBOR.
//!
//! Maps have the order of RFC 8949, 4.2.1, so one verdict at one time has one encoding.

use coset::CborSerializable;
use coset::cbor::value::Value;
use donjon_token::to_hexadecimal;

use super::appraisal::Appraisal;
use super::vector::vector;
use crate::verdict::{kind, limit, version};

/// The profile of draft-ietf-rats-ear-04.
pub const PROFILE: &str = "tag:ietf.org,2026:rats/ear#04";
/// Who answers for the verifier.
const DEVELOPER: &str = "The Donjon developers";
/// Which verifier it is.
const BUILD: &str = concat!("donjon-verify ", env!("CARGO_PKG_VERSION"));

/// Numbers of claims (RFC 8392; RFC 9711; draft-ietf-rats-ear-04, 3 and 3.1).
pub mod number {
    /// When the result was written, in seconds since 1970.
    pub const ISSUED: i64 = 6;
    /// A nonce.
    pub const NONCE: i64 = 10;
    /// The profile.
    pub const PROFILE: i64 = 265;
    /// The appraisals, by their labels.
    pub const SUBMODS: i64 = 266;
    /// The tier.
    pub const STATUS: i64 = 1000;
    /// The trustworthiness vector.
    pub const VECTOR: i64 = 1001;
    /// The policies that were applied.
    pub const POLICIES: i64 = 1003;
    /// The verifier.
    pub const VERIFIER: i64 = 1004;
    /// What the evidence says.
    pub const ATTESTER_CLAIMS: i64 = 1005;
    /// What the verifier adds.
    pub const VERIFIER_CLAIMS: i64 = 1006;
}

/// Returns the claims about a verdict, for a verifier that sent a nonce, at a time in seconds since
/// 1970. None if they cannot be written down, which does not happen with memory enough.
pub fn claims(appraisal: &Appraisal<'_>, nonce: &[u8; 32], issued: u64) -> Option<Vec<u8>> {
    let status = Value::from(appraisal.tier as i64);
    let verifier = map([(0.into(), DEVELOPER.into()), (1.into(), BUILD.into())])?;
    let submods = map([(appraisal.label.into(), of_one(appraisal)?)])?;
    let whole = map([
        (number::ISSUED.into(), issued.into()),
        (number::NONCE.into(), bytes(nonce)),
        (number::PROFILE.into(), PROFILE.into()),
        (number::SUBMODS.into(), submods),
        (number::STATUS.into(), status),
        (number::VERIFIER.into(), verifier),
    ])?;
    whole.to_vec().ok()
}

/// Returns the appraisal itself.
fn of_one(appraisal: &Appraisal<'_>) -> Option<Value> {
    let vector = vector(appraisal).into_iter();
    let mut entries = vec![
        (number::STATUS.into(), (appraisal.tier as i64).into()),
        (
            number::VECTOR.into(),
            map(vector.map(|(aspect, value)| (aspect.into(), value.into())))?,
        ),
        (number::VERIFIER_CLAIMS.into(), verifier_claims(appraisal)?),
    ];
    let policy = |kind: &str, digest: [u8; 32]| {
        let digits = to_hexadecimal(&digest);
        Value::from(format!("donjon-{kind}:sha-256:{digits}"))
    };
    let evidence = &appraisal.evidence;
    let policies = [
        evidence.policy.map(|it| policy("policy", it)),
        evidence.golden.map(|it| policy("golden", it)),
    ];
    let policies: Vec<_> = policies.into_iter().flatten().collect();
    if !policies.is_empty() {
        entries.push((number::POLICIES.into(), Value::Array(policies)));
    }
    // What has no known author is not passed on.
    if appraisal.is_signed() {
        entries.push((number::NONCE.into(), bytes(&appraisal.claims.nonce)));
        entries.push((number::ATTESTER_CLAIMS.into(), attester_claims(appraisal)?));
    }
    map(entries)
}

/// Returns what token and transcript say.
fn attester_claims(appraisal: &Appraisal<'_>) -> Option<Value> {
    let claims = appraisal.claims;
    let mut entries: Vec<(Value, Value)> = vec![
        ("measurement".into(), bytes(&claims.measurement)),
        ("data".into(), bytes(&claims.data)),
        ("started".into(), bytes(&claims.started)),
        ("kind".into(), kind(claims).into()),
        ("limit".into(), limit(claims).into()),
        ("version".into(), version(claims).into()),
        ("weakened".into(), claims.weakened.into()),
        ("identity".into(), claims.identity.into()),
        ("quoter".into(), bytes(&claims.quoter)),
        ("key".into(), bytes(&claims.key)),
    ];
    if let Some(outcome) = appraisal.outcome {
        let arguments = outcome.arguments.map(Value::from);
        entries.extend([
            ("arguments".into(), Value::Array(arguments.into())),
            ("end".into(), (outcome.reason as u64).into()),
            ("result".into(), outcome.word.into()),
            ("result-data".into(), bytes(&outcome.data)),
        ]);
    }
    map(entries)
}

/// Returns what the verifier says of its own: the lists of the verdict, and digests of the files.
fn verifier_claims(appraisal: &Appraisal<'_>) -> Option<Value> {
    let list = |it: &[String]| {
        let words = it.iter().map(|it| Value::from(it.as_str()));
        Value::Array(words.collect())
    };
    // Of evidence without a known author the fault of its signature alone is said.
    let is_signed = appraisal.is_signed();
    let causes = appraisal.causes.iter().zip(appraisal.wrong);
    let counted = causes.filter(|(cause, _)| is_signed || cause.is_unsigned());
    let wrong: Vec<_> = counted.map(|(_, words)| words.clone()).collect();
    let open = if is_signed { appraisal.open } else { &[] };
    let evidence = &appraisal.evidence;
    let mut digests = vec![("token".into(), bytes(&evidence.token))];
    if let Some(it) = &evidence.transcript {
        digests.push(("transcript".into(), bytes(it)));
    }
    map([
        ("wrong".into(), list(&wrong)),
        ("proven".into(), list(appraisal.proven)),
        ("open".into(), list(open)),
        ("sha-256".into(), map(digests)?),
    ])
}

fn bytes(of: &[u8; 32]) -> Value {
    Value::Bytes(of.to_vec())
}

/// Returns a map in its order: that of the encoded keys.
fn map(entries: impl IntoIterator<Item = (Value, Value)>) -> Option<Value> {
    let keyed = |(key, value): (Value, Value)| {
        let encoded = key.clone().to_vec().ok()?;
        Some((encoded, (key, value)))
    };
    let keyed: Option<Vec<_>> = entries.into_iter().map(keyed).collect();
    let mut keyed = keyed?;
    keyed.sort_by(|one, other| one.0.cmp(&other.0));
    Some(Value::Map(keyed.into_iter().map(|it| it.1).collect()))
}
