// SPDX-License-Identifier: MIT OR Apache-2.0
//! The key with which a verifier signs, from a file in PEM: Ed25519 (RFC 8032) in PKCS#8 (RFC 5958,
//! RFC 8410).

use std::path::Path;

use anyhow::{Result, anyhow};
use ed25519_dalek::pkcs8::DecodePrivateKey;
use ed25519_dalek::{Signer as _, SigningKey};

use crate::flow::read;

/// Most bytes of a key's file.
const MOST: u64 = 4096;

/// A key that signs.
pub struct Signer(SigningKey);

impl Signer {
    /// Reads a key.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or has no such key.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display();
        let wanted = || {
            anyhow!(
                "{name} has no Ed25519 key in PKCS#8 as PEM; make one with \
                 `openssl genpkey -algorithm ed25519 -out FILE`"
            )
        };
        let text = String::from_utf8(read(path, MOST)?);
        let text = text.map_err(|_| wanted())?;
        let key = SigningKey::from_pkcs8_pem(&text);
        Ok(Self(key.map_err(|_| wanted())?))
    }

    /// Signs bytes.
    pub fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        self.0.sign(bytes).to_bytes().to_vec()
    }
}
