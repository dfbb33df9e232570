// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that compute with secrets: random bytes, reports, keys. Where this boot has no secret,
//! the reply is zeros.

use donjon_abi::call::{
    KeyReply, Nothing, Purpose, RandomReply, ReportArguments, ReportReply, VerifyArguments,
    VerifyReply,
};
use donjon_core::compartment::attestation::Subject;

use super::asked::Asked;
use crate::attestation;

/// Makes random bytes.
pub fn random(_: &mut Asked, _: Nothing) -> RandomReply {
    let bytes = attestation::random();
    RandomReply {
        found: u64::from(bytes.is_some()),
        bytes: bytes.unwrap_or_default(),
    }
}

/// Makes a report about the compartment that asks.
pub fn report(asked: &mut Asked, ReportArguments { data }: ReportArguments) -> ReportReply {
    let of_itself = asked.compartments.measurement_and_limit(asked.at.0).ok();
    let secrets = attestation::secrets();
    let Some(((measurement, limit), secrets)) = of_itself.zip(secrets.as_ref()) else {
        return ReportReply::NONE;
    };
    let subject = Subject {
        measurement,
        limit,
        data,
    };
    let boot = secrets.boot();
    ReportReply {
        found: 1,
        code: secrets.code(&subject),
        measurement,
        limit,
        started: boot.started,
        version: boot.version,
        weakened: boot.left_out,
        identity: boot.identity as u64,
    }
}

/// Tells whether a report was made in this boot.
pub fn verify(_: &mut Asked, it: VerifyArguments) -> VerifyReply {
    let subject = Subject {
        measurement: it.measurement,
        limit: it.limit,
        data: it.data,
    };
    let secrets = attestation::secrets();
    let secrets = secrets.as_ref();
    let Some(secrets) = secrets.filter(|secrets| secrets.is_genuine(&subject, &it.code)) else {
        return VerifyReply::NONE;
    };
    let boot = secrets.boot();
    VerifyReply {
        found: 1,
        started: boot.started,
        version: boot.version,
        weakened: boot.left_out,
        identity: boot.identity as u64,
        ..VerifyReply::NONE
    }
}

/// Makes a key of the compartment that asks.
pub fn key(asked: &mut Asked, Purpose { purpose }: Purpose) -> KeyReply {
    let of_itself = asked.compartments.measurement_and_limit(asked.at.0).ok();
    let secrets = attestation::secrets();
    match of_itself.zip(secrets.as_ref()) {
        Some(((measurement, _), secrets)) => KeyReply {
            found: 1,
            key: secrets.key(&measurement, purpose),
        },
        None => KeyReply::NONE,
    }
}
