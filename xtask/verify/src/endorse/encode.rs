// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reference values as a CoRIM (draft-ietf-rats-corim-11) with one CoMID, signed or not.

use anyhow::{Context, Result, anyhow};
use corim::builder::{ComidBuilder, CorimBuilder};
use corim::types::common::{CryptoKey, MeasuredElement, TagIdChoice, VersionMap};
use corim::types::corim::{CorimId, CorimMetaMap, CorimSignerMap, ProfileChoice};
use corim::types::environment::EnvironmentMap;
use corim::types::measurement::{Digest, MeasurementMap, MeasurementValuesMap};
use corim::types::signed::{CoseAlgorithm, SignedCorimBuilder};
use corim::types::triples::{
    AttestKeyTriple, ConditionalEndorsementTriple, EndorsedTriple, ReferenceTriple,
    StatefulEnvironmentRecord,
};
use ed25519_dalek::VerifyingKey;
use ed25519_dalek::pkcs8::EncodePublicKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;

use super::arguments::EndorseArguments;
use super::identifier::{uri, uuid};
use super::reference::Reference;
use crate::signer::Signer;

/// SHA-256 in the IANA registry of Named Information hash algorithms.
const SHA_256: i64 = 1;
/// Semantic versioning, `semver` (RFC 9393, 4.1).
const SEMANTIC: i64 = 16384;
/// Vendor of all environments.
pub const VENDOR: &str = "Donjon";
/// Model of what the boot stage starts.
pub const STARTED: &str = "boot";
/// Model of a program in a compartment.
pub const PROGRAM: &str = "compartment";
/// Model of the compartment that signs.
pub const QUOTER: &str = "quoting compartment";

/// Encodes reference values as a command line asks for it.
///
/// # Errors
///
/// If the key for signing cannot be read, the key of the quoting compartment is none, or the values
/// cannot be encoded.
pub fn encode(reference: &Reference, arguments: &EndorseArguments) -> Result<Vec<u8>> {
    let signer = arguments.key.as_deref().map(Signer::open).transpose()?;
    let unsigned = unsigned(reference, arguments.not_after)?;
    match signer {
        None => Ok(unsigned),
        Some(signer) => {
            let name = arguments.signer.as_deref();
            let name = name.context("name who signs: --signer")?;
            signed(unsigned, &signer, name)
        }
    }
}

/// Returns the URI of the profile. It names the meaning of environments and measurements that
/// docs/attestation-results.md gives, and changes with it.
pub fn profile() -> String {
    uri(&uuid("donjon reference values, first profile", &[]))
}

fn unsigned(reference: &Reference, not_after: Option<u32>) -> Result<Vec<u8>> {
    let not_after_bytes = not_after.map(u32::to_le_bytes);
    let version = reference.version.as_deref().unwrap_or_default();
    let parts = [
        &reference.program[..],
        &reference.started,
        version.as_bytes(),
        reference.key.as_ref().map_or(&[], |it| &it[..]),
        reference.policy.as_ref().map_or(&[], |it| &it[..]),
        not_after_bytes.as_ref().map_or(&[], |it| &it[..]),
    ];
    let tag = TagIdChoice::Uuid(uuid("donjon reference values, tag", &parts));
    let mut comid = ComidBuilder::new(tag);
    let mut started = vec![measured("started", &reference.started)];
    started.extend(reference.version.clone().map(of_version));
    comid = comid.add_reference_triple(ReferenceTriple::new(environment(STARTED), started));
    let program = vec![measured("program", &reference.program)];
    let triple = ReferenceTriple::new(environment(PROGRAM), program.clone());
    comid = comid.add_reference_triple(triple);
    if let Some(key) = &reference.key {
        let keys = vec![CryptoKey::PkixBase64Key(pem(key)?)];
        let triple = AttestKeyTriple::new(environment(QUOTER), keys, None);
        comid = comid.add_attest_key_triple(triple);
    }
    if let Some(policy) = &reference.policy {
        let condition = StatefulEnvironmentRecord(environment(PROGRAM), program);
        let policy = vec![measured("policy", policy)];
        let addition = EndorsedTriple::new(environment(PROGRAM), policy);
        let triple = ConditionalEndorsementTriple(vec![condition], vec![addition]);
        comid = comid.add_conditional_endorsement(triple);
    }
    let failed = |it: corim::BuilderError| anyhow!("the values cannot be encoded: {it}");
    let identifier = CorimId::Uuid(uuid("donjon reference values", &parts));
    let mut whole = CorimBuilder::new(identifier).set_profile(ProfileChoice::Uri(profile()));
    if let Some(seconds) = not_after {
        whole = whole.set_validity(None, seconds.into()).map_err(failed)?;
    }
    let comid = comid.build().map_err(failed)?;
    let whole = whole.add_comid_tag(comid).map_err(failed)?;
    whole.build_bytes().map_err(failed)
}

/// Signs encoded values, with the signer's name in the protected header.
fn signed(unsigned: Vec<u8>, signer: &Signer, name: &str) -> Result<Vec<u8>> {
    let failed = |it: corim::EncodeError| anyhow!("the values cannot be signed: {it}");
    let who = CorimSignerMap {
        signer_name: name.to_owned(),
        signer_uri: None,
    };
    let about = CorimMetaMap {
        signer: who,
        signature_validity: None,
    };
    let builder = SignedCorimBuilder::new(CoseAlgorithm::EdDsa, unsigned);
    let mut builder = builder.set_corim_meta(about);
    let bytes = builder.to_be_signed(&[]).map_err(failed)?;
    builder
        .build_with_signature(signer.sign(&bytes))
        .map_err(failed)
}

fn environment(model: &str) -> EnvironmentMap {
    EnvironmentMap::for_class(VENDOR, model)
}

fn measurement(name: &str, mval: MeasurementValuesMap) -> MeasurementMap {
    MeasurementMap {
        mkey: Some(MeasuredElement::Text(name.into())),
        mval,
        authorized_by: None,
    }
}

/// Returns a measurement that is a digest.
fn measured(name: &str, digest: &[u8; 32]) -> MeasurementMap {
    let mut mval = MeasurementValuesMap::new();
    mval.digests = Some(vec![Digest::new(SHA_256, digest.to_vec())]);
    measurement(name, mval)
}

/// Returns the measurement that is the version of the inner domain.
fn of_version(version: String) -> MeasurementMap {
    let mut mval = MeasurementValuesMap::new();
    mval.version = Some(VersionMap {
        version,
        version_scheme: Some(SEMANTIC),
    });
    measurement("inner domain", mval)
}

/// Returns a public key as PEM (RFC 8410).
fn pem(key: &[u8; 32]) -> Result<String> {
    let key = VerifyingKey::from_bytes(key).ok();
    let key = key.context("--attest-key is no Ed25519 public key")?;
    Ok(key.to_public_key_pem(LineEnding::LF)?)
}
