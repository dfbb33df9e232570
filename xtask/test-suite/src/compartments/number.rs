// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many compartments that end: what an auditor sees of their frames.

use anyhow::{Context, Result, ensure};
use donjon_audit::{Report, Series, Subject};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run::prepare;
use donjon_machine::arguments::Switch;
use donjon_machine::qemu;

use crate::test::Test;

const COUNT: usize = 200;
/// The program says when to look: before, with all, and when all but the template have ended. Once
/// more when that has ended, too.
const SCRIPT: &str = "\
donjon-compare number 200 3 || exit 1
echo look
donjon-wait
exit 0
";

/// The experiment `number`, with an auditor.
pub fn test(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::beside("compartments:audit:number", move || number(&host))
        .holds(super::AUDITED)
        .long()
}

/// Checks that the number of frames in use is the same afterwards as before, and that each of those
/// that were wiped is zero: the auditor reads all that are free.
fn number(host: &HostArguments) -> Result<()> {
    let switch = Switch::Asid;
    let parts = prepare(host, super::counted(switch)?, &InnerVariant::sound(switch))?;
    let subject = Subject::of(&parts)?;
    let mut audits = Series::of(&subject);
    let mut text = Vec::new();
    let status = qemu::exec_live(&parts.boot, SCRIPT, super::TIMEOUT, |guest, _, bytes| {
        text.extend(bytes);
        audits.look_if_asked(guest, bytes);
    });
    let text = String::from_utf8_lossy(&text);
    let reports = audits.judge(status, &text)?;
    let frames = text.lines().find_map(|it| it.strip_prefix("frames: "));
    let frames: usize = frames.context("no `frames:`")?.trim().parse()?;
    let [before, alive, ended, end] = &reports[..] else {
        anyhow::bail!("{} looks:\n{text}", reports.len());
    };
    let used = |it: &Report| it.private_in_use;
    ensure!(
        used(alive) == used(before) + COUNT * frames,
        "{} frames before, {} with {COUNT} compartments of {frames}",
        used(before),
        used(alive)
    );
    ensure!(
        used(ended) == used(before),
        "{} frames before, {} afterwards",
        used(before),
        used(ended)
    );
    let free = private(ended) - used(ended);
    ensure!(
        free >= COUNT * frames,
        "{free} free frames were read, fewer than were wiped"
    );
    ensure!(
        private(end) == 0,
        "{} private frames are left",
        private(end)
    );
    Ok(())
}

/// Private frames, those that are free included.
fn private(report: &Report) -> usize {
    report.frames.get("private").map_or(0, |it| *it as usize)
}
