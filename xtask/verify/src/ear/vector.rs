// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trustworthiness vector (draft-ietf-rats-ar4si, 3.1): a number for each aspect that the
//! verifier knows something of.
//!
//! Hardware, file system, storage and sources of data have no number: nothing about them is in the
//! evidence. Nor has the secrecy of memory: what is compared says which program keeps it secret and
//! not that it does, and the number for isolation without encryption is a warning.

use std::collections::BTreeMap;

use super::appraisal::{Appraisal, Tier};
use crate::Cause;

/// The instance: which machine and quoting compartment it is.
pub const INSTANCE: i64 = 0;
/// The configuration: switch mode, DMA profile and command line.
pub const CONFIGURATION: i64 = 1;
/// The executables: what was started, the program, and the path that it took.
pub const EXECUTABLES: i64 = 2;

/// Nothing is claimed: the evidence does not suffice.
pub const NO_CLAIM: i64 = 0;
/// The instance is recognized, or the configuration is approved.
pub const APPROVED: i64 = 2;
/// What was loaded at boot is approved. The number for what is loaded later as well, 2, would cover
/// Linux's programs, about which the evidence says nothing.
pub const APPROVED_AT_BOOT: i64 = 3;
/// Executables are not recognized.
pub const UNRECOGNIZED_EXECUTABLES: i64 = 33;
/// Executables or a configuration are contraindicated.
pub const CONTRAINDICATED: i64 = 96;
/// The instance is not recognized.
pub const UNRECOGNIZED_INSTANCE: i64 = 97;
/// Signatures, digests or tags of the evidence do not fit.
pub const CRYPTOGRAPHY_FAILED: i64 = 99;

/// Returns the numbers of a verdict, by aspects; at least one. A verdict that something is wrong
/// has none that affirms.
pub fn vector(appraisal: &Appraisal<'_>) -> BTreeMap<i64, i64> {
    let mut vector = BTreeMap::new();
    match appraisal.tier {
        Tier::Contraindicated => {
            let is_counted = |it: &&Cause| appraisal.is_signed() || it.is_unsigned();
            let causes = appraisal.causes.iter().filter(is_counted);
            for (aspect, value) in causes.filter_map(|&it| value(it)) {
                let worst = vector.entry(aspect).or_insert(value);
                *worst = value.max(*worst);
            }
        }
        Tier::Affirming | Tier::Warning => {
            if appraisal.claims.identity != 0 {
                vector.insert(INSTANCE, APPROVED);
            }
            if appraisal.is_start_compared {
                vector.insert(CONFIGURATION, APPROVED);
            }
            let is_whole = appraisal.is_start_compared && appraisal.tier == Tier::Affirming;
            vector.insert(
                EXECUTABLES,
                if is_whole { APPROVED_AT_BOOT } else { NO_CLAIM },
            );
        }
    }
    if vector.is_empty() {
        vector.insert(EXECUTABLES, NO_CLAIM);
    }
    vector
}

/// Returns the aspect that a fault is about, and its number; none if no aspect has one for it.
fn value(cause: Cause) -> Option<(i64, i64)> {
    match cause {
        Cause::Signature => Some((INSTANCE, CRYPTOGRAPHY_FAILED)),
        Cause::Key => Some((INSTANCE, UNRECOGNIZED_INSTANCE)),
        Cause::Weakened => Some((CONFIGURATION, CONTRAINDICATED)),
        Cause::Program | Cause::Started => Some((EXECUTABLES, UNRECOGNIZED_EXECUTABLES)),
        Cause::Transcript | Cause::Log => Some((EXECUTABLES, CRYPTOGRAPHY_FAILED)),
        Cause::Path | Cause::Policy | Cause::Golden => Some((EXECUTABLES, CONTRAINDICATED)),
        Cause::Nonce | Cause::Kind | Cause::Form => None,
    }
}
