// SPDX-License-Identifier: MIT OR Apache-2.0
//! Verdicts as EAT attestation results (EAR), which other services read.
//!
//! The claims are those of draft-ietf-rats-ear-04 and draft-ietf-rats-ar4si, in a CBOR Web Token
//! (RFC 8392) that is a tagged COSE_Sign1 (RFC 9052). docs/attestation-results.md says which field
//! means what.
//!
//! The crate `ear` is not used: its dependency `cmw` has a build script for which an HTTP client
//! and OpenSSL are built, whether it needs them or not.

mod appraisal;
mod claims;
mod sink;
#[cfg(test)]
mod tests;
mod vector;

pub use appraisal::Appraisal;
pub use sink::Sink;
