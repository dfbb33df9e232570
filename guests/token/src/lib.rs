// SPDX-License-Identifier: MIT OR Apache-2.0
//! The signed form of a report: an entity attestation token (EAT, RFC 9711), a map of claims in
//! CBOR, signed as COSE_Sign1 (RFC 9052) with Ed25519 (RFC 8032). docs/attestation.md lists the
//! claims.
//!
//! CBOR writes one value in many ways, and COSE leaves a header unsigned. So that a token cannot be
//! changed and keep its signature, only the bytes that [`sign`] writes are a token.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod hexadecimal;
mod record;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::fmt;

use coset::cbor::value::{Integer, Value};
use coset::{CborSerializable, CoseSign1, CoseSign1Builder, HeaderBuilder, iana};

pub use hexadecimal::{from_hexadecimal, to_hexadecimal};
pub use record::Record;

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// What the verifier sent, so that the token is no older: the first half of what the
    /// compartment had reported.
    pub nonce: [u8; 32],
    /// The second half of the reported data that is for the compartment's own use.
    pub data: [u8; 32],
    /// What the compartment began with.
    pub measurement: [u8; 32],
    /// Frames that it may have.
    pub limit: u64,
    /// Digest of the inner domain, Linux and its command line.
    pub started: [u8; 32],
    /// Version of the inner domain: 16 bits each for major, minor and patch.
    pub version: u64,
    /// Bits that tell a build which leaves out a check; 0 in a normal one.
    pub weakened: u64,
    /// Where the machine's identity comes from: 0 nowhere, 1 given to the boot stage.
    pub identity: u64,
    /// Measurement of the compartment that signed.
    pub quoter: [u8; 32],
    /// Public key of the compartment that signed.
    pub key: [u8; 32],
}

/// A token that was read. The signature is not checked yet.
#[derive(Clone, Debug)]
pub struct Token {
    /// What it says.
    pub claims: Claims,
    /// What is signed.
    pub signed: Vec<u8>,
    /// The signature.
    pub signature: [u8; 64],
}

/// Why bytes are no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The bytes are no COSE_Sign1.
    NotSigned,
    /// The token is signed by something other than EdDSA.
    Algorithm,
    /// The signature has not 64 bytes.
    Signature,
    /// The payload is not a map with these claims, each of its type and once.
    Claims,
    /// The bytes say this, but are not those that [`sign`] writes: they have an unprotected header,
    /// a tag, other claims' order or lengths, or the like.
    Encoding,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSigned => "it is no COSE_Sign1 structure",
            Self::Algorithm => "it is not signed with EdDSA",
            Self::Signature => "its signature has not 64 bytes",
            Self::Claims => "its claims are not those of a report",
            Self::Encoding => "it is not written as a quoting compartment writes it",
        })
    }
}

impl core::error::Error for Error {}

/// Numbers of the claims: RFC 9711 has the first, the others are from the range for private use.
mod number {
    pub const NONCE: i64 = 10;
    pub const DATA: i64 = -75_001;
    pub const MEASUREMENT: i64 = -75_002;
    pub const LIMIT: i64 = -75_003;
    pub const STARTED: i64 = -75_004;
    pub const VERSION: i64 = -75_005;
    pub const WEAKENED: i64 = -75_006;
    pub const IDENTITY: i64 = -75_007;
    pub const QUOTER: i64 = -75_008;
    pub const KEY: i64 = -75_009;
}

/// Claims of a map.
const COUNT: usize = 10;

impl Claims {
    fn to_map(&self) -> Value {
        let bytes = |it: &[u8; 32]| Value::Bytes(it.to_vec());
        let word = |it: u64| Value::Integer(it.into());
        let entries = [
            (number::NONCE, bytes(&self.nonce)),
            (number::DATA, bytes(&self.data)),
            (number::MEASUREMENT, bytes(&self.measurement)),
            (number::LIMIT, word(self.limit)),
            (number::STARTED, bytes(&self.started)),
            (number::VERSION, word(self.version)),
            (number::WEAKENED, word(self.weakened)),
            (number::IDENTITY, word(self.identity)),
            (number::QUOTER, bytes(&self.quoter)),
            (number::KEY, bytes(&self.key)),
        ];
        let entries: [_; COUNT] = entries;
        Value::Map(
            entries
                .into_iter()
                .map(|(number, value)| (Value::Integer(number.into()), value))
                .collect(),
        )
    }

    fn from_map(value: &Value) -> Option<Self> {
        let entries = value.as_map().filter(|it| it.len() == COUNT)?;
        let find = |number: i64| {
            let key = Value::Integer(Integer::from(number));
            let mut found = entries.iter().filter(|(it, _)| *it == key);
            let (_, value) = found.next()?;
            found.next().is_none().then_some(value)
        };
        let bytes = |number| -> Option<[u8; 32]> { find(number)?.as_bytes()?[..].try_into().ok() };
        let word = |number| -> Option<u64> { find(number)?.as_integer()?.try_into().ok() };
        Some(Self {
            nonce: bytes(number::NONCE)?,
            data: bytes(number::DATA)?,
            measurement: bytes(number::MEASUREMENT)?,
            limit: word(number::LIMIT)?,
            started: bytes(number::STARTED)?,
            version: word(number::VERSION)?,
            weakened: word(number::WEAKENED)?,
            identity: word(number::IDENTITY)?,
            quoter: bytes(number::QUOTER)?,
            key: bytes(number::KEY)?,
        })
    }
}

/// A token with these claims, which `signer` signs. None if it cannot be written down, which does
/// not happen with memory enough.
pub fn sign(claims: &Claims, signer: impl FnOnce(&[u8]) -> [u8; 64]) -> Option<Vec<u8>> {
    let header = HeaderBuilder::new()
        .algorithm(iana::Algorithm::EdDSA)
        .build();
    CoseSign1Builder::new()
        .protected(header)
        .payload(claims.to_map().to_vec().ok()?)
        .create_signature(&[], |bytes| signer(bytes).to_vec())
        .build()
        .to_vec()
        .ok()
}

impl Token {
    /// Reads the bytes that [`sign`] writes, and no others with the same meaning.
    ///
    /// # Errors
    ///
    /// An [`Error`] if the bytes are something else.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let signed = CoseSign1::from_slice(bytes).map_err(|_| Error::NotSigned)?;
        let algorithm = signed.protected.header.alg.as_ref();
        if algorithm != Some(&coset::Algorithm::Assigned(iana::Algorithm::EdDSA)) {
            return Err(Error::Algorithm);
        }
        let signature = signed.signature[..]
            .try_into()
            .map_err(|_| Error::Signature)?;
        let payload = signed.payload.as_deref().ok_or(Error::Claims)?;
        let map = Value::from_slice(payload).map_err(|_| Error::Claims)?;
        let claims = Claims::from_map(&map).ok_or(Error::Claims)?;
        let mut signed = Vec::new();
        let written = sign(&claims, |it| {
            signed.extend_from_slice(it);
            signature
        });
        if written.as_deref() != Some(bytes) {
            return Err(Error::Encoding);
        }
        Ok(Self {
            claims,
            signed,
            signature,
        })
    }
}
