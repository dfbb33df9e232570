// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attestation results, read back with what did not write them: the CBOR reader of the crate
//! `corim`, and definitions in CDDL with a checker of their own.

mod forged;
mod read;
mod refused;
mod rejected;
mod written;

use std::fs;
use std::path::PathBuf;

use donjon_token::sign;
use ed25519_dalek::pkcs8::EncodePrivateKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::{Signer, SigningKey};
use tempfile::TempDir;

use crate::VerifyArguments;
use crate::flow::tests::{Kept, NONCE, Round, finished, program, run};
use crate::tests::no_arguments;

use read::Read;

/// Returns the key of the tests' verifier.
fn verifier() -> SigningKey {
    SigningKey::from_bytes(&[6; 32])
}

/// A place for a result, with the verifier's key.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = tempfile::tempdir().expect("a folder");
        let pem = verifier().to_pkcs8_pem(LineEnding::LF).expect("a key");
        fs::write(place.path().join("key"), pem.as_bytes()).expect("written");
        Self(place)
    }

    fn ear(&self) -> PathBuf {
        self.0.path().join("ear")
    }

    /// Asks for a result beside what is asked already.
    fn arguments(&self, asked: VerifyArguments) -> VerifyArguments {
        VerifyArguments {
            ear: Some(self.ear()),
            ear_key: Some(self.0.path().join("key")),
            ..asked
        }
    }

    /// Returns what the command wrote, which has to be well formed; none if it wrote nothing.
    fn read(&self) -> Option<Read> {
        Some(Read::new(&fs::read(self.ear()).ok()?))
    }
}

/// Asks about a run, whose files are written.
fn asked(kept: &Kept) -> VerifyArguments {
    VerifyArguments {
        path: kept.folder(),
        nonce: Some(NONCE),
        key: Some(kept.claims.key),
        started: Some(kept.claims.started),
        program: Some(kept.folder().join("../program")),
        policy: kept
            .policy
            .as_ref()
            .map(|_| kept.folder().join("../policy")),
        golden: kept.golden.clone(),
        max_blocks: kept.max_blocks,
        ..no_arguments()
    }
}

/// Judges a run with a token, changed arguments and a result; the status and the result.
fn judged(
    kept: &Kept,
    token: &[u8],
    change: impl FnOnce(&mut VerifyArguments),
) -> (u8, Option<Read>) {
    kept.write(token);
    let place = Place::new();
    let mut arguments = asked(kept);
    change(&mut arguments);
    let status = crate::run(&place.arguments(arguments)).expect("a status");
    (status, place.read())
}

/// Signs the claims of a run with a key.
fn signed_by(kept: &Kept, key: [u8; 32]) -> Vec<u8> {
    let key = SigningKey::from_bytes(&key);
    sign(&kept.claims, |it| key.sign(it).to_bytes()).expect("a token")
}

/// Keeps a run that the host cut.
fn cut() -> Kept {
    Kept::new(&run(&program(), 9, Round::Cut, 7))
}
