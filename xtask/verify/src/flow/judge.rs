// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks of a run, in the order in which each may rest on those before.

use anyhow::{Context, Result};
use donjon_compartment_image::Image;
use donjon_flow_check::{Program, read as read_input};
use donjon_token::Token;

use super::check::Check;
use super::folder::{Folder, TOKEN, read};
use super::golden::Golden;
use super::log::Log;
use super::policy::{Names, Policy, Watch};
use super::question::Question;
use super::report::Report;
use super::transcript::digest;
use super::walk::{Bounds, unproven, walk};
use super::{about, ending};
use crate::{Cause, MOST};

/// Most bytes of a program's file.
pub const PROGRAM_MAX: u64 = 1 << 30;

/// Checks a run; what is to be said about it.
///
/// # Errors
///
/// If a file cannot be read, is none of its kind or is too large, or the path is too long.
pub fn judge(question: &Question<'_>) -> Result<Report> {
    judge_without(question, None)
}

/// Checks a run without one of the checks: what a verifier would say that lacks it.
///
/// # Errors
///
/// As of [`judge`].
pub fn judge_without(question: &Question<'_>, left_out: Option<Check>) -> Result<Report> {
    let name = question.program.display();
    let file = read(question.program, PROGRAM_MAX)?;
    let image = Image::parse(&file).with_context(|| name.to_string())?;
    let place = question.folder.join(TOKEN);
    let bytes = read(&place, MOST).with_context(|| {
        format!(
            "{} has no token: a host gets one when the run ends, or when it ends the run",
            question.folder.display()
        )
    })?;
    let token = Token::parse(&bytes)
        .with_context(|| format!("{} is no token of a quoting compartment", place.display()))?;
    let folder = Folder::open(question.folder)?;
    let policy = question.policy.map(Policy::open).transpose()?;

    let mut report = Report::default();
    report.evidence.token = digest(&bytes);
    about::token(&mut report, question, &token, &image, left_out);
    if report.is_wrong() {
        return Ok(report);
    }
    let input = read_input(&file).with_context(|| name.to_string())?;
    let program = match Program::check(input) {
        Ok(program) => program,
        Err(refusals) => {
            about::refusals(&mut report, &refusals);
            return Ok(report);
        }
    };
    let Some(transcript) = about::transcript(&mut report, &token, &folder.transcript) else {
        return Ok(report);
    };
    about::log(&mut report, &transcript, folder.log_bytes);
    if let Err(wrong) = ending::check(&transcript, &program) {
        report.wrong(Cause::Path, wrong);
    }
    if report.is_wrong() {
        return Ok(report);
    }
    let bounds = Bounds {
        blocks: question.max_blocks,
        frames: image.limit,
    };
    let mut log = Log::new(&folder.log, &transcript);
    if left_out == Some(Check::Words) {
        log = log.unchecked();
    } else {
        about::words(&mut report, &log, &transcript)?;
    }
    if left_out == Some(Check::Path) {
        about::ended(&mut report, &transcript);
        return Ok(report);
    }
    if report.is_wrong() {
        let mut log = log.unchecked();
        report.unproven.push(unproven(&program, &mut log, bounds));
        return Ok(report);
    }
    let names = policy.as_ref().map(|_| Names::new(&program, &file));
    let names = names.transpose()?;
    let watch = policy.as_ref().zip(names.as_ref());
    let watch = watch.map(|(policy, names)| Watch::new(policy, names));
    let mut watch = watch
        .transpose()
        .context("the policy does not suit the program")?;
    let golden = question.golden.map(|it| {
        let golden = Golden::open(it, &image.measurement());
        golden.with_context(|| format!("the golden run {} is of no use", it.display()))
    });
    let golden = golden.transpose()?;
    report.evidence.golden = golden.as_ref().map(|it| it.digest);
    match walk(&program, &mut log, bounds, &mut watch, golden.as_ref())? {
        Err(failure) => {
            report.wrong(Cause::Path, format!("rejected: {failure}"));
            if let Some(astray) = ending::astray(&transcript, &program) {
                report.wrong(Cause::Path, astray);
            }
        }
        Ok(walked) => {
            about::path(&mut report, question, &transcript, &program, &walked);
            report.evidence.policy = policy.as_ref().map(|it| it.digest);
            if let Some(watch) = watch {
                let broken = watch.violations(&program, &transcript.end);
                let knows_inlined = program.names().has_lines();
                about::policy(&mut report, broken, knows_inlined);
            }
        }
    }
    Ok(report)
}
