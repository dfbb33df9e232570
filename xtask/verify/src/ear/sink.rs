// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where an attestation result goes, and the key that signs it.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use coset::{CoseSign1Builder, HeaderBuilder, TaggedCborSerializable, iana};

use super::appraisal::Appraisal;
use super::claims::claims;
use crate::signer::Signer;
use crate::{VerifyArguments, output};

/// A file for an attestation result.
pub struct Sink<'a> {
    path: &'a Path,
    signer: Signer,
    nonce: [u8; 32],
}

impl<'a> Sink<'a> {
    /// Prepares to write a result, if one was asked for, before anything is judged.
    ///
    /// # Errors
    ///
    /// If the file is there already, the key cannot be read, or something is not named without
    /// which no verdict says that all is right.
    pub fn open(arguments: &'a VerifyArguments, is_run: bool) -> Result<Option<Self>> {
        let Some(path) = arguments.ear.as_deref() else {
            return Ok(None);
        };
        output::is_free(path)?;
        let key = arguments.ear_key.as_deref();
        let key = key.context("name the key that signs the result: --ear-key")?;
        let missing = "an attestation result needs nonce, key and program of the evidence: name";
        let nonce = arguments
            .nonce
            .with_context(|| format!("{missing} --nonce"));
        arguments.key.with_context(|| format!("{missing} --key"))?;
        if !is_run {
            let measurement = arguments.measurement;
            measurement.with_context(|| format!("{missing} --measurement"))?;
        }
        Ok(Some(Self {
            path,
            signer: Signer::open(key)?,
            nonce: nonce?,
        }))
    }

    /// Writes a result, dated now.
    ///
    /// # Errors
    ///
    /// If the clock stands before 1970, or the file cannot be written.
    pub fn write(&self, appraisal: &Appraisal<'_>) -> Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.context("the clock of this host stands before 1970")?;
        let bytes = self.sign(appraisal, now.as_secs());
        output::write(self.path, &bytes.context("the result cannot be encoded")?)
    }

    /// Returns a signed result. None if it cannot be written down, which does not happen with
    /// memory enough.
    pub fn sign(&self, appraisal: &Appraisal<'_>, issued: u64) -> Option<Vec<u8>> {
        let header = HeaderBuilder::new().algorithm(iana::Algorithm::EdDSA);
        CoseSign1Builder::new()
            .protected(header.build())
            .payload(claims(appraisal, &self.nonce, issued)?)
            .create_signature(&[], |it| self.signer.sign(it))
            .build()
            .to_tagged_vec()
            .ok()
    }
}
