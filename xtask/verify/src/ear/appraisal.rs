// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an attestation result is about: a verdict, whichever it is.

use donjon_token::Claims;

use crate::evidence::{Evidence, Outcome};
use crate::flow::Report;
use crate::{Cause, Verdict};

/// The label of a report that stands alone.
const REPORT: &str = "donjon-report";
/// The label of a run under flow attestation.
const RUN: &str = "donjon-run";

/// How far a result is to be trusted (draft-ietf-rats-ar4si, 3.2). The tier `none` says that
/// nothing is known; without a verdict there is no result at all, so it does not occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// All is right: status 0 of the command.
    Affirming = 2,
    /// All is right as far as it goes, and the program did not end by itself: status 3.
    Warning = 32,
    /// Something is wrong: status 1.
    Contraindicated = 96,
}

/// A verdict, as an attestation result needs it.
pub struct Appraisal<'a> {
    /// Which kind of evidence it was.
    pub label: &'static str,
    /// The verdict itself.
    pub tier: Tier,
    /// What is wrong, for programs.
    pub causes: &'a [Cause],
    /// What the token says.
    pub claims: &'a Claims,
    /// Whether the digest of what was started was compared.
    pub is_start_compared: bool,
    /// What the run's transcript says, if it is that of the token.
    pub outcome: Option<&'a Outcome>,
    /// Digests of the files.
    pub evidence: Evidence,
    /// What is wrong, for people.
    pub wrong: &'a [String],
    /// What is proven; none if something is wrong.
    pub proven: &'a [String],
    /// What does not follow.
    pub open: &'a [String],
}

impl<'a> Appraisal<'a> {
    /// Takes the verdict about a token that stands alone. Nonce, key and measurement were compared.
    pub fn of_token(verdict: &'a Verdict, evidence: Evidence, is_start_compared: bool) -> Self {
        let tier = match verdict.causes.is_empty() && verdict.wrong.is_empty() {
            true => Tier::Affirming,
            false => Tier::Contraindicated,
        };
        Self {
            label: REPORT,
            tier,
            causes: &verdict.causes,
            claims: &verdict.claims,
            is_start_compared,
            outcome: None,
            evidence,
            wrong: &verdict.wrong,
            proven: unless(tier, &verdict.proven),
            open: &verdict.open,
        }
    }

    /// Takes the verdict about a run. None if no token was read, which no verdict lacks.
    pub fn of_run(report: &'a Report, is_start_compared: bool) -> Option<Self> {
        let tier = match report.status() {
            0 => Tier::Affirming,
            3 => Tier::Warning,
            _ => Tier::Contraindicated,
        };
        Some(Self {
            label: RUN,
            tier,
            causes: &report.causes,
            claims: report.claims.as_ref()?,
            is_start_compared,
            outcome: report.outcome.as_ref(),
            evidence: report.evidence,
            wrong: &report.wrong,
            proven: unless(tier, &report.proven),
            open: &report.open,
        })
    }

    /// Says whether the expected key signed what the token says.
    pub fn is_signed(&self) -> bool {
        !self.causes.iter().any(|it| it.is_unsigned())
    }
}

/// Returns what is proven: nothing, if something is wrong.
fn unless(tier: Tier, proven: &[String]) -> &[String] {
    match tier {
        Tier::Contraindicated => &[],
        Tier::Affirming | Tier::Warning => proven,
    }
}
