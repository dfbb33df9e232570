// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs under flow attestation in compartments of a guest, judged by the verifier.

use anyhow::{Result, ensure};
use donjon_attack::paths::{self, Asked, Runs};
use donjon_builder::arguments::HostArguments;
use donjon_machine::arguments::Switch;
use donjon_machine::finding::Finding;
use donjon_verify::Report;

/// Runs of which the last is one without instrumentation, and the attacks that a verifier has to
/// stop.
pub fn attested(host: &HostArguments) -> Result<()> {
    let runs = Runs::make(host, Switch::Asid)?;
    paths::are_stopped(&runs, Switch::Asid)?;
    // A lawful pointer in the place of another one, and changed data, lead along lawful paths.
    for name in ["good", "data", "lawful"] {
        let report = runs.judge(runs.kept(name)?)?;
        expect(name, &report, 0, "the program ended by itself")?;
    }
    let asked = Asked::new(&runs.huffman);
    let report = runs.judge_as(runs.kept("segments")?, &asked)?;
    expect("segments", &report, 0, "segments     7")?;
    // Full segments of a run that a signal ended are proven.
    runs.says("cut 1")?;
    let report = runs.judge_as(runs.kept("cut")?, &Asked::new(&runs.endless))?;
    expect("cut", &report, 3, "the host ended it")?;
    runs.says("waiting 1")?;
    let waiting = runs.judge(runs.kept("waiting")?)?;
    expect("waiting", &waiting, 3, "the host ended it")?;
    ensure!(report.blocks > 0, "a run that was cut has a path: {report}");
    let report = runs.judge(runs.kept("return")?)?;
    expect("return", &report, 1, "protocol.c:")?;
    expect("return", &report, 1, "echo+")?;
    let report = runs.judge_as(runs.kept("good")?, &asked)?;
    expect("another program", &report, 1, "another program")?;
    // A return to what is no address of a program is named, whatever word it looks like.
    runs.says("letters 1 0")?;
    let report = runs.judge(runs.kept("letters")?)?;
    expect("letters", &report, 1, "ended at 0x4141414141414141, where")?;
    // A program without instrumentation leaves the form at once, and says nothing.
    runs.says("status 1")?;
    let report = runs.judge(runs.kept("kind")?)?;
    expect("without instrumentation", &report, 1, "")?;
    let mut empty = runs.kept("good")?.clone();
    empty.insert("log".into(), Vec::new());
    let report = runs.judge(&empty)?;
    expect("an empty log", &report, 1, "")
}

fn expect(name: &str, report: &Report, status: u8, words: &str) -> Result<()> {
    if status != 0 && report.status() == 0 {
        // The verifier proves what is not so.
        return Err(Finding::Attack.error(format!("{name}: {report}")));
    }
    ensure!(
        report.status() == status && report.to_string().contains(words),
        "{name}: {report}"
    );
    Ok(())
}
