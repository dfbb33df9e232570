// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks themselves, and the words about each.

use anyhow::Result;
use donjon_abi::flow::{EndReason, FLOW_REPORT};
use donjon_compartment_image::Image;
use donjon_flow_check::{Program, Refusal};
use donjon_token::{Token, to_hexadecimal};

use super::check::Check;
use super::ending;
use super::log::Log;
use super::question::Question;
use super::report::Report;
use super::transcript::{Transcript, digest};
use super::walk::Walked;
use crate::verdict::limit;
use crate::{Cause, Expected, Outcome, Verdict};

/// Most places and segments that are listed.
const LISTED: usize = 10;

/// Checks the token: signature, key, nonce, build, kind, and the program that it is about; not
/// what is left out.
pub fn token(
    report: &mut Report,
    question: &Question<'_>,
    token: &Token,
    image: &Image<'_>,
    left_out: Option<Check>,
) {
    let measurement = match left_out {
        Some(Check::Program) => token.claims.measurement,
        _ => image.measurement(),
    };
    let nonce = match left_out {
        Some(Check::Nonce) => token.claims.nonce,
        _ => question.nonce,
    };
    let expected = Expected {
        nonce: Some(nonce),
        key: Some(question.key),
        measurement: Some(measurement),
        started: question.started,
    };
    let verdict = Verdict::of_kind(token, &expected, FLOW_REPORT);
    report.says = verdict.says();
    report.claims = Some(verdict.claims);
    report.wrong = verdict.wrong;
    report.causes = verdict.causes;
    report.proven = verdict.proven;
    report.open = verdict.open;
    if question.measurement.is_some_and(|it| it != measurement) {
        report.wrong(
            Cause::Program,
            "the program has another measurement than --measurement says",
        );
    }
    if limit(&token.claims) != image.limit {
        report.wrong(
            Cause::Program,
            "the compartment had another limit than the program has",
        );
    }
}

/// Says why the program is none of attested form.
pub fn refusals(report: &mut Report, refusals: &[Refusal]) {
    let count = refusals.len();
    let words = format!(
        "the program is not of attested form, so its log says no path: {count} places are refused"
    );
    report.wrong(Cause::Form, words);
    for it in refusals.iter().take(LISTED) {
        report.wrong(Cause::Form, it.to_string());
    }
}

/// Checks that the transcript is that of the report, is well formed, and about the same run.
pub fn transcript(report: &mut Report, token: &Token, bytes: &[u8]) -> Option<Transcript> {
    let claims = &token.claims;
    let digest = digest(bytes);
    report.evidence.transcript = Some(digest);
    if digest != claims.data {
        report.wrong(
            Cause::Transcript,
            "the transcript is another one than that of the report: it was changed, or the report \
             is of another run",
        );
        return None;
    }
    let transcript = match Transcript::parse(bytes) {
        Ok(transcript) => transcript,
        Err(wrong) => {
            report.wrong(
                Cause::Transcript,
                format!("the transcript is wrong: {wrong}"),
            );
            return None;
        }
    };
    let start = &transcript.start;
    if start.nonce != claims.nonce {
        report.wrong(
            Cause::Transcript,
            "the transcript has another nonce than the report",
        );
    }
    if start.measurement != claims.measurement {
        report.wrong(
            Cause::Transcript,
            "the transcript has another measurement than the report",
        );
    }
    let end = &transcript.end;
    let arguments = start.arguments.map(|it| format!("{it:#x}"));
    report.says.extend([
        ("arguments", arguments.join(" ")),
        ("segments", transcript.segments.len().to_string()),
        ("words", transcript.words().to_string()),
        ("end", transcript.reason.words().to_owned()),
        ("result", format!("{:#x}", end.word)),
        ("bytes", to_hexadecimal(&end.data)),
    ]);
    report.outcome = Some(Outcome {
        arguments: start.arguments,
        reason: transcript.reason,
        word: end.word,
        data: end.data,
    });
    (!report.is_wrong()).then_some(transcript)
}

/// Checks that the log has as many words as the transcript.
pub fn log(report: &mut Report, transcript: &Transcript, bytes: u64) {
    let words = transcript.words();
    if bytes != 8 * words {
        let wrong =
            format!("the log has {bytes} bytes, and the transcript {words} words of 8 bytes");
        report.wrong(Cause::Log, wrong);
    }
}

/// Checks digests and tags of all segments.
///
/// # Errors
///
/// If the log cannot be read.
pub fn words(report: &mut Report, log: &Log<'_>, transcript: &Transcript) -> Result<()> {
    let mut count = 0;
    for number in 0..transcript.segments.len() {
        let fits = log.check(number)?;
        let what = match (fits.digest, fits.tag) {
            (true, true) => continue,
            (false, _) => {
                "the words are other ones than the host committed to: the log was changed"
            }
            (true, false) => {
                "the tag does not fit: the program wrote other words, or went where its code does \
                 not lead"
            }
        };
        count += 1;
        if count <= LISTED {
            report.wrong(Cause::Log, format!("segment {number}: {what}"));
        }
    }
    if count > LISTED {
        report.wrong(
            Cause::Log,
            format!("and {} further segments", count - LISTED),
        );
    }
    Ok(())
}

/// Says what a path proves, and compares it with the golden run.
pub fn path(
    report: &mut Report,
    question: &Question<'_>,
    transcript: &Transcript,
    program: &Program,
    walked: &Walked,
) {
    let totals = walked.totals;
    let length = format!(
        "{} blocks, {} calls and at most {} within each other, in {} words of log",
        totals.blocks,
        totals.calls,
        totals.depth,
        transcript.words()
    );
    report.blocks = totals.blocks;
    ended(report, transcript);
    let end = ending::words(transcript, program);
    if report.is_finished {
        report.proven.push(format!(
            "a CPU executed the text of that program, from its entry to its end, on exactly the \
             path that the log says: {length}"
        ));
        let (word, data) = (transcript.end.word, to_hexadecimal(&transcript.end.data));
        let result = format!("{end}, with the result {word:#x} and the bytes {data}");
        report.proven.push(result);
    } else if !transcript.segments.is_empty() {
        report.proven.push(format!(
            "a CPU executed the text of that program from its entry on, and began with exactly the \
             path that the log says: {length}"
        ));
        report.proven.push(format!("then this happened: {end}"));
    } else {
        report.proven.push(format!("no step of a path: {end}"));
    }
    if !report.is_finished && question.prefix {
        for it in transcript.segments.iter().rev().take(LISTED) {
            let number = it.index;
            let place = program.names().located(it.pc).unwrap_or_default();
            report.proven.push(format!(
                "segment {number} ended at {:#x} ({place}), with {} words",
                it.pc, it.words
            ));
        }
    }
    if let Some(differs) = walked.differs {
        report.wrong(Cause::Golden, differs.words(program));
    } else if question.golden.is_some() {
        report
            .proven
            .push("each step is that of the golden run".into());
    }
    open(report, question);
}

/// Notes whether the program ended by itself.
pub fn ended(report: &mut Report, transcript: &Transcript) {
    report.is_finished = transcript.reason == EndReason::Finished;
}

/// Says what no path proves.
fn open(report: &mut Report, question: &Question<'_>) {
    if !report.is_finished {
        report.open.push(
            "anything behind the last segment: nothing that the program wrote, sent or used there is \
             covered, and it may have left its path"
                .into(),
        );
    }
    if question.golden.is_none() {
        report.open.push(
            "that data were right: a defect that changes data, or a pointer to another function that \
             pointers may hold, leads along lawful paths. Only a policy (--policy) or a trusted run \
             (--golden) can tell"
                .into(),
        );
    }
    report.open.extend([
        "that the arguments, which the host chose, are those that were wanted: compare them".into(),
        "that it was the only run with this nonce: the host can run the program often and send the \
         run that it likes"
            .into(),
        "what the program wrote or sent, unless the result covers it, and when anything happened"
            .into(),
        "that the path is secret: the host has read it, so a program whose path depends on secrets \
         has shown them"
            .into(),
    ]);
}

/// Says whether a path fulfils a policy.
pub fn policy(report: &mut Report, broken: Vec<String>, knows_inlined: bool) {
    if broken.is_empty() {
        report.proven.push("the path fulfils the policy".into());
    }
    for it in broken {
        report.wrong(Cause::Policy, format!("the policy is not fulfilled: {it}"));
    }
    if !knows_inlined {
        report.open.push(
            "that the functions of the policy are not also within others: the program's file has no \
             debug information"
                .into(),
        );
    }
}
