// SPDX-License-Identifier: MIT OR Apache-2.0
//! libFuzzer chooses the calls that the rules of kernel and user tables are tested with on the
//! host, and finds each check that is left out. It also chooses what verifiers read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, ensure};
use donjon_builder::environment::Needs;
use donjon_machine::{paths, process};

use super::scratch::Scratch;
use super::test::Test;

/// What the fuzzers need: libFuzzer is C++.
const CXX: Needs = Needs {
    cxx: true,
    ..Needs::NONE
};
/// Seconds of the short test, over all worlds, and as many over all inputs.
const SECONDS: u64 = 60;
/// Seconds of the long test, over all worlds, and as many over all inputs.
const LONG_SECONDS: u64 = 60 * 60;
/// Seconds within which it must be noticed that a check is left out. It takes about one.
const WEAKENED_SECONDS: u64 = 60;
/// Most bytes of a case: some hundred calls, or a file of one page of text.
const LONGEST: u32 = 8192;
/// What verifiers read: tokens, messages of transcripts, programs for flow attestation, and logs.
const INPUTS: [&str; 5] = ["flow-file", "flow-log", "flow-text", "message", "token"];
/// Leaves no check out: what is accepted counts as wrong, so that a fuzzer has to come to it.
const ACCEPTANCE: &str = "acceptance";
/// What is fuzzed, and the checks that can be left out there.
const WORLDS: [(&str, &[&str]); 2] = [
    (
        "kernel-tables",
        &[
            "target",
            "transition",
            "contiguous",
            "dbm",
            "parent",
            "flush",
            "execute",
            "pool",
            "devices",
        ],
    ),
    (
        "user-tables",
        &["target", "contiguous", "dbm", "asid", "execute", "source"],
    ),
];
/// Names the check that is left out to the fuzzer.
const WITHOUT: &str = "DONJON_FUZZ_WITHOUT";
/// What libFuzzer needs of the compiler; the stable one has it.
const FLAGS: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// A minute in every run of all tests.
pub fn tests() -> Vec<Test> {
    vec![
        Test::beside("fuzz:host", || {
            let programs = build()?;
            for (world, weakened) in WORLDS {
                for check in weakened {
                    misses(&programs, world, check)?;
                }
                fuzz(&programs, world, SECONDS / WORLDS.len() as u64)?;
            }
            for input in INPUTS {
                misses(&programs, input, ACCEPTANCE)?;
                fuzz(&programs, input, SECONDS / INPUTS.len() as u64)?;
            }
            Ok(())
        })
        .needs(CXX)
        .holds(&["P2"])
        .long(),
    ]
}

/// Fuzzes calls for an hour and inputs for another; the test runs by name alone.
pub fn long() -> Test {
    Test::alone("fuzz:host:long", || {
        let programs = build()?;
        for (world, _) in WORLDS {
            fuzz(&programs, world, LONG_SECONDS / WORLDS.len() as u64)?;
        }
        for input in INPUTS {
            fuzz(&programs, input, LONG_SECONDS / INPUTS.len() as u64)?;
        }
        Ok(())
    })
    .on_host()
    .needs(CXX)
    .holds(&["P2"])
    .long()
}

/// Builds the fuzzers; returns the directory that they are in. With a target of its own, build
/// scripts do without what counts coverage.
fn build() -> Result<PathBuf> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "host-tuple"]);
    let host = process::output(rustc.current_dir(paths::root()))?;
    let host = host.trim();
    let mut command = Command::new("cargo");
    command
        .args(["build", "--quiet", "--profile=fuzz"])
        .args(["--package=donjon-fuzz", "--features=run"])
        .args([&format!("--target={host}"), "--target-dir=target/fuzz"])
        .current_dir(paths::root())
        .env("CARGO_TERM_COLOR", "never")
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f"));
    process::logged(&mut command, &log("build"), |_| ())?;
    Ok(paths::in_root("target/fuzz").join(host).join("fuzz"))
}

/// Cases from the kept ones on, for a while. Nothing may be wrong after any of them.
fn fuzz(programs: &Path, world: &str, seconds: u64) -> Result<()> {
    let scratch = Scratch::new()?;
    let corpus = scratch.path().join("corpus");
    fs::create_dir_all(&corpus)?;
    let found = paths::in_root(format!("target/fuzz/found/{world}"));
    fs::create_dir_all(&found)?;
    let mut command = fuzzer(programs, world, &found, seconds);
    command
        .arg(&corpus)
        .arg(paths::in_root(format!("tests/fuzz/cases/{world}")));
    let (mut cases, mut reached, mut case) = (None, None, None);
    let ran = process::logged(&mut command, &log(world), |line| {
        cases = cases
            .take()
            .or(after(line, "stat::number_of_executed_units: "));
        reached = after(line, " cov: ").or(reached.take());
        case = case.take().or(after(line, "Test unit written to "));
    });
    match (ran, case) {
        (Ok(()), _) => {}
        (Err(error), Some(case)) => {
            return Err(error.context(format!(
                "something is wrong with {case}; the log of the fuzzer says what (kept in \
                 tests/fuzz/cases/{world}/, each run of it begins with that case)"
            )));
        }
        (Err(error), None) => return Err(error),
    }
    let cases = cases.with_context(|| format!("{world}: it does not say how many cases ran"))?;
    let reached = reached.unwrap_or_default();
    println!("{world}: {cases} cases in {seconds} s, {reached} places in the code reached");
    Ok(())
}

/// A case is found that misses the check: from nothing for calls, from the kept cases for inputs.
fn misses(programs: &Path, world: &str, check: &str) -> Result<()> {
    let scratch = Scratch::new()?;
    let mut command = fuzzer(programs, world, scratch.path(), WEAKENED_SECONDS);
    let kept = paths::in_root(format!("tests/fuzz/cases/{world}"));
    if check == ACCEPTANCE {
        let corpus = scratch.path().join("corpus");
        fs::create_dir_all(&corpus)?;
        command.arg(corpus).arg(kept);
    }
    let output = process::both(command.env(WITHOUT, check))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        said.contains("panicked at") && said.contains("Test unit written to "),
        "{world} without the check {check}: no case of {WEAKENED_SECONDS} s misses it"
    );
    let cases = said
        .lines()
        .find_map(|it| after(it, "stat::number_of_executed_units: "))
        .ok_or_else(|| anyhow!("{world}: it does not say how many cases ran"))?;
    println!("{world} without the check {check}: missed by case {cases}");
    Ok(())
}

fn fuzzer(programs: &Path, world: &str, found: &Path, seconds: u64) -> Command {
    let mut command = Command::new(programs.join(format!("fuzz-{world}")));
    command
        .args(["-seed=1", "-print_final_stats=1", "-len_control=0"])
        .arg(format!("-max_len={LONGEST}"))
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}/", found.display()))
        .env("RUST_BACKTRACE", "0")
        .env_remove(WITHOUT);
    command
}

/// The word that follows `words` in a line.
fn after(line: &str, words: &str) -> Option<String> {
    let (_, rest) = line.split_once(words)?;
    rest.split_whitespace().next().map(str::to_owned)
}

fn log(name: &str) -> PathBuf {
    paths::in_root(format!("target/logs/fuzz-{name}.log"))
}
