// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a token proves.

use std::fmt;

use donjon_abi::flow::{FLOW_REPORT, KIND_OF_REPORT_SHIFT};
use donjon_token::{Claims, Token, to_hexadecimal};
use ed25519_dalek::{Signature, VerifyingKey};

use crate::Cause;

/// Title of the list of what is wrong.
pub const WRONG: &str = "Wrong:";
/// Title of the list of what holds.
pub const PROVEN: &str = "It proves:";
/// Title of the list of what does not follow.
pub const OPEN: &str = "It does not prove:";
/// The kind of a report that a program asked for by itself.
pub const OWN_REPORT: u64 = 0;

/// What the verifier knows from elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expected {
    /// The nonce that it sent.
    pub nonce: Option<[u8; 32]>,
    /// The public key.
    pub key: Option<[u8; 32]>,
    /// The compartment's measurement.
    pub measurement: Option<[u8; 32]>,
    /// Digest of what was started.
    pub started: Option<[u8; 32]>,
}

/// What a token says and proves.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What the token says.
    pub claims: Claims,
    /// What is wrong.
    pub wrong: Vec<String>,
    /// What is wrong, for programs.
    pub causes: Vec<Cause>,
    /// What holds, if nothing is wrong.
    pub proven: Vec<String>,
    /// What is as expected, and would be proven if the key were known.
    pub agrees: Vec<String>,
    /// What does not follow.
    pub open: Vec<String>,
}

impl Verdict {
    /// The verdict about a token that stands alone, for a verifier that knows what `expected` has.
    pub fn of(token: &Token, expected: &Expected) -> Self {
        Self::of_kind(token, expected, OWN_REPORT)
    }

    /// The verdict about a token with a report of this kind, for a verifier that knows what
    /// `expected` has.
    pub fn of_kind(token: &Token, expected: &Expected, kind: u64) -> Self {
        let claims = &token.claims;
        let mut verdict = Self {
            claims: claims.clone(),
            wrong: Vec::new(),
            causes: Vec::new(),
            proven: Vec::new(),
            agrees: Vec::new(),
            open: Vec::new(),
        };
        let signature = Signature::from_bytes(&token.signature);
        let signed = VerifyingKey::from_bytes(&claims.key)
            .and_then(|key| key.verify_strict(&token.signed, &signature));
        if signed.is_err() {
            verdict.wrong(
                Cause::Signature,
                "the signature does not fit: the token was changed, or another key made it",
            );
        }
        verdict.key(expected);
        verdict.nonce(expected);
        verdict.compare(
            Cause::Program,
            expected.measurement.map(|it| it == claims.measurement),
            "the compartment is the program with the measurement that was expected",
            "the compartment is another program than expected",
            "which program it is: compare the measurement (--measurement) with that of its image",
        );
        verdict.compare(
            Cause::Started,
            expected.started.map(|it| it == claims.started),
            "the inner domain, Linux and its command line are those that were expected",
            "another inner domain, Linux or command line was started than expected",
            "what was started: compare the digest (--started) with that of a boot that was trusted",
        );
        if self::kind(claims) != kind {
            let words = match (self::kind(claims), kind) {
                (FLOW_REPORT, OWN_REPORT) => {
                    "it is the report of a run under flow attestation: alone it says nothing, \
                     name the folder of the run"
                }
                (OWN_REPORT, FLOW_REPORT) => {
                    "it is a report that a program asked for by itself, and no report of a run \
                     under flow attestation"
                }
                _ => "its kind is not known",
            };
            verdict.wrong(Cause::Kind, words);
        }
        if claims.weakened != 0 {
            let words = format!(
                "the inner domain is a build for tests that leaves out checks ({:#x})",
                claims.weakened
            );
            verdict.wrong(Cause::Weakened, &words);
        }
        if expected.key.is_none() {
            verdict.agrees = core::mem::take(&mut verdict.proven);
        }
        verdict.open.push(
            "that the compartment has no defect, that it still runs, and what Linux does with it"
                .into(),
        );
        verdict
    }

    fn wrong(&mut self, cause: Cause, what: &str) {
        self.wrong.push(what.into());
        self.causes.push(cause);
    }

    fn key(&mut self, expected: &Expected) {
        let lasting = self.claims.identity != 0;
        match expected.key {
            Some(key) if key != self.claims.key => {
                self.wrong(Cause::Key, "the key is not the machine's: another machine, another boot image or another quoting compartment signed");
            }
            Some(_) => self.proven.push(
                "the quoting compartment that has this key signed, in a boot with the same secrets as when the key was recorded".into(),
            ),
            None => self.open.push(
                "that an inner domain was involved at all: any program that makes a key can sign such a token. Record the key in a boot that is trusted, and name it (--key)".into(),
            ),
        }
        if !lasting {
            self.open.push(
                "which machine it is: it has no identity, so its key is another one in each boot"
                    .into(),
            );
        } else {
            self.open.push(
                "that the identity is secret: it was given to the boot stage by its loader, with no root in hardware".into(),
            );
        }
    }

    fn nonce(&mut self, expected: &Expected) {
        self.compare(
            Cause::Nonce,
            expected.nonce.map(|it| it == self.claims.nonce),
            "the report was made after the nonce was sent",
            "the nonce is another one: the token may be an old one",
            "when the report was made: send a nonce, and name it (--nonce)",
        );
    }

    fn compare(&mut self, cause: Cause, same: Option<bool>, proven: &str, wrong: &str, open: &str) {
        match same {
            Some(true) => self.proven.push(proven.into()),
            Some(false) => self.wrong(cause, wrong),
            None => self.open.push(open.into()),
        }
    }
}

/// Returns the kind of a report: who asked for it.
pub const fn kind(claims: &Claims) -> u64 {
    claims.limit >> KIND_OF_REPORT_SHIFT
}

/// Returns how many frames a compartment may have.
pub const fn limit(claims: &Claims) -> u64 {
    claims.limit & ((1 << KIND_OF_REPORT_SHIFT) - 1)
}

/// Returns the version of the inner domain, as it is written.
pub fn version(claims: &Claims) -> String {
    let version = claims.version;
    let parts = [version >> 32, version >> 16 & 0xffff, version & 0xffff];
    parts.map(|it| it.to_string()).join(".")
}

impl Verdict {
    /// Lists what the token says: names and values.
    pub fn says(&self) -> Vec<(&'static str, String)> {
        let claims = &self.claims;
        let identity = match claims.identity {
            0 => "none".to_owned(),
            1 => "given".to_owned(),
            other => format!("unknown ({other})"),
        };
        let kind = match kind(claims) {
            OWN_REPORT => "0: the program asked for it".to_owned(),
            FLOW_REPORT => "1: a run under flow attestation".to_owned(),
            other => format!("{other}: unknown"),
        };
        vec![
            ("measurement", to_hexadecimal(&claims.measurement)),
            ("kind", kind),
            ("limit", format!("{} frames", limit(claims))),
            ("nonce", to_hexadecimal(&claims.nonce)),
            ("data", to_hexadecimal(&claims.data)),
            ("started", to_hexadecimal(&claims.started)),
            ("inner domain", version(claims)),
            ("weakened", format!("{:#x}", claims.weakened)),
            ("identity", identity),
            ("quoted by", to_hexadecimal(&claims.quoter)),
            ("key", to_hexadecimal(&claims.key)),
        ]
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "The token says:")?;
        for (what, value) in self.says() {
            writeln!(f, "  {what:12} {value}")?;
        }
        let lists = [
            (WRONG, &self.wrong),
            (PROVEN, &self.proven),
            (
                "It says this, and whoever made the key that signed it can say anything:",
                &self.agrees,
            ),
            (OPEN, &self.open),
        ];
        for (title, list) in lists {
            let is_void = !title.starts_with("It does not") && title != WRONG;
            let is_void = is_void && !self.wrong.is_empty();
            if list.is_empty() || is_void {
                continue;
            }
            writeln!(f, "{title}")?;
            for it in list {
                writeln!(f, "  * {it}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
