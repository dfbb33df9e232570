// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reference values, read back with what did not write them: the CBOR reader `ciborium`, the COSE
//! library `coset`, and definitions in CDDL with a checker of their own.

mod read;
mod refused;
mod written;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use ed25519_dalek::SigningKey;
use ed25519_dalek::pkcs8::EncodePrivateKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use tempfile::TempDir;

use super::boot_image::tests::image;
use super::{EndorseArguments, Reference};
use crate::flow::tests::finished;

/// Linux's command line.
const LINE: &str = "console=ttyAMA0 quiet";

/// A place with a program, a boot image and a key.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("a folder"));
        let pem = signing().to_pkcs8_pem(LineEnding::LF).expect("a key");
        place.put("program", &finished().program);
        place.put("boot", &image());
        place.put("key", pem.as_bytes());
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        fs::write(self.path(name), bytes).expect("written");
        self.path(name)
    }

    /// Returns a command line that names program and boot image.
    fn arguments(&self) -> EndorseArguments {
        EndorseArguments {
            program: self.path("program"),
            boot: Some(self.path("boot")),
            command_line: Some(LINE.into()),
            started: None,
            inner_version: None,
            attest_key: None,
            policy: None,
            not_after: None,
            key: None,
            signer: Some("someone".into()),
            output: self.path("values"),
        }
    }

    /// Returns a command line that names all there is, but no key for signing.
    fn whole(&self) -> EndorseArguments {
        EndorseArguments {
            inner_version: Some("0.1.0".into()),
            attest_key: Some(finished().claims.key),
            policy: Some(self.put("policy", b"must-run = ['check']")),
            not_after: Some(2_000_000_000),
            ..self.arguments()
        }
    }
}

/// Returns the endorser's key.
fn signing() -> SigningKey {
    SigningKey::from_bytes(&[6; 32])
}

/// Carries out a command line; what it wrote.
fn written(arguments: &EndorseArguments) -> Result<Vec<u8>> {
    super::run(arguments)?;
    let bytes = fs::read(&arguments.output)?;
    fs::remove_file(&arguments.output)?;
    Ok(bytes)
}

/// Fails unless a command line is refused with these words, and nothing is left.
fn refused(arguments: &EndorseArguments, words: &str) {
    let trouble = super::run(arguments).expect_err(words);
    assert!(format!("{trouble:#}").contains(words), "{trouble:#}");
    assert!(!Path::new(&arguments.output).exists(), "{words}");
}
